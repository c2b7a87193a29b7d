//! The types of older Kubernetes versions, as differences from the next newer table.
//!
//! Each version is a block of lines. The first ones replace the head of the newer table, the others change it:
//!
//! ```text
//! kubernetes v1.36.3
//! …
//! -package lifecycle.v1alpha1
//! -type core.v1.Added
//! type core.v1.PodSpec
//!  -added
//!  removed string
//! ```
//!
//! A whole table has 140 KB; a difference has 5 to 15 KB, because few types change in a release. A table is put together only if its
//! version is asked for.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::OnceLock;

use super::Schema;
use super::embedded::{Embedded, TEXT, version_in};
use super::table::TableError;

/// The differences, from the second newest version to the oldest.
pub(super) const DIFFERENCES: &str = include_str!("kubernetes_versions.txt");

/// The first line of a block.
const BLOCK: &str = "kubernetes ";

impl Schema {
    /// A schema with the built-in kinds of a Kubernetes version: `1.36`, `v1.36` or `1.36.2`. Every patch release of a minor version
    /// has the same types. None if the version is not built in; see [`kubernetes_versions`].
    pub fn kubernetes_at(version: &str) -> Option<Self> {
        let minor = minor(version)?;
        let at = kubernetes_versions().position(|known| self::minor(known) == Some(minor))?;
        Some(Self { kubernetes: Some(table_at(at)), ..Self::empty() })
    }
}

/// The Kubernetes versions whose kinds are built in, newest first.
pub fn kubernetes_versions() -> impl Iterator<Item = &'static str> {
    std::iter::once(version_in(TEXT))
        .chain(DIFFERENCES.lines().filter_map(|line| line.strip_prefix(BLOCK)))
}

/// The major and minor number of a version.
fn minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.trim_start_matches('v').split('.').map(str::parse::<u32>);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let is_valid = numbers.next().is_none_or(|patch| patch.is_ok()) && numbers.next().is_none();
    is_valid.then_some((major, minor))
}

/// The table of the version at this position. Each is put together once and kept until the process exits.
fn table_at(position: usize) -> &'static Embedded {
    static TABLES: OnceLock<Vec<OnceLock<Embedded>>> = OnceLock::new();
    if position == 0 {
        return Embedded::get();
    }
    let tables = TABLES.get_or_init(|| kubernetes_versions().map(|_| OnceLock::new()).collect());
    tables[position].get_or_init(|| {
        let text = text_at(position).expect("a test applies all committed differences");
        Embedded::new(Box::leak(text.into_boxed_str()))
    })
}

/// The text of the table of the version at this position.
pub(super) fn text_at(position: usize) -> Result<String, TableError> {
    let mut table = Table::parse(TEXT)?;
    let start = DIFFERENCES.find(BLOCK).unwrap_or(DIFFERENCES.len());
    for block in blocks(&DIFFERENCES[start..]).take(position) {
        table.apply(block)?;
    }
    Ok(table.to_text())
}

/// The blocks of the versions.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest[1..].find(&format!("\n{BLOCK}")).map_or(rest.len(), |at| at + 2);
        let (block, after) = rest.split_at(end);
        rest = after;
        Some(block)
    })
}

/// The difference between two tables, such that applying it to the newer one gives the older one.
///
/// # Errors
/// If a table cannot be read.
pub fn table_difference(newer: &str, older: &str) -> Result<String, TableError> {
    let (newer, older) = (Table::parse(newer)?, Table::parse(older)?);
    let mut text = String::new();
    older.head.iter().filter(|line| !line.starts_with('#')).for_each(|line| {
        let _ = writeln!(text, "{line}");
    });
    for short in newer.packages.iter().filter(|it| !older.packages.contains_key(it.0)) {
        let _ = writeln!(text, "-package {}", short.1);
    }
    for (full, short) in older.packages.iter().filter(|it| !newer.packages.contains_key(it.0)) {
        let _ = writeln!(text, "package {short} {full}");
    }
    for name in newer.types.keys().filter(|name| !older.types.contains_key(*name)) {
        let _ = writeln!(text, "-type {name}");
    }
    for (name, it) in &older.types {
        match newer.types.get(name) {
            Some(before) if before == it => {}
            before => it.write_difference(name, before, &mut text),
        }
    }
    Ok(text)
}

/// A table as its lines.
#[derive(Default)]
struct Table<'a> {
    /// Comments, version, counts and digest.
    head: Vec<&'a str>,
    /// Short names of packages by their full names.
    packages: BTreeMap<&'a str, &'a str>,
    types: BTreeMap<&'a str, TypeLines<'a>>,
}

/// The lines of a type.
#[derive(Clone, Default, PartialEq)]
struct TypeLines<'a> {
    /// What follows the name in the first line.
    attributes: &'a str,
    /// The lines of fields by their names.
    fields: BTreeMap<&'a str, &'a str>,
}

impl<'a> Table<'a> {
    fn parse(text: &'a str) -> Result<Self, TableError> {
        let mut table = Self::default();
        table.apply(text)?;
        Ok(table)
    }

    /// Applies the lines of a table or of a difference.
    fn apply(&mut self, text: &'a str) -> Result<(), TableError> {
        let error = |line: &str| TableError(format!("cannot read `{line}`"));
        let (mut head, mut current) = (Vec::new(), None);
        for line in text.lines() {
            if let Some(field) = line.strip_prefix(' ') {
                let fields: &mut TypeLines<'a> = current
                    .and_then(|name: &str| self.types.get_mut(name))
                    .ok_or_else(|| error(line))?;
                fields.apply(field);
            } else if let Some(name) = line.strip_prefix("-type ") {
                self.types.remove(name).ok_or_else(|| error(line))?;
            } else if let Some(rest) = line.strip_prefix("type ") {
                let end = rest.find(' ').unwrap_or(rest.len());
                current = Some(&rest[..end]);
                self.types.entry(&rest[..end]).or_default().attributes = &rest[end..];
            } else if let Some(short) = line.strip_prefix("-package ") {
                self.packages.retain(|_, other| *other != short);
            } else if let Some(names) = line.strip_prefix("package ") {
                let (short, full) = names.split_once(' ').ok_or_else(|| error(line))?;
                self.packages.insert(full, short);
            } else {
                head.push(line);
            }
        }
        // The comments of the newest table are those of all tables.
        let comments = self.head.iter().filter(|line| line.starts_with('#')).copied();
        self.head = comments.chain(head).collect();
        Ok(())
    }

    fn to_text(&self) -> String {
        let mut text = String::with_capacity(TEXT.len());
        for line in &self.head {
            let _ = writeln!(text, "{line}");
        }
        for (full, short) in &self.packages {
            let _ = writeln!(text, "package {short} {full}");
        }
        for (name, it) in &self.types {
            let _ = writeln!(text, "type {name}{}", it.attributes);
            for line in it.fields.values() {
                let _ = writeln!(text, " {line}");
            }
        }
        text
    }
}

impl<'a> TypeLines<'a> {
    fn apply(&mut self, line: &'a str) {
        if let Some(name) = line.strip_prefix('-') {
            self.fields.remove(name);
            return;
        }
        let name = line.split(' ').next().unwrap_or(line);
        self.fields.insert(name.strip_suffix('!').unwrap_or(name), line);
    }

    fn write_difference(&self, name: &str, before: Option<&Self>, text: &mut String) {
        let _ = writeln!(text, "type {name}{}", self.attributes);
        let before = before.cloned().unwrap_or_default();
        for field in before.fields.keys().filter(|field| !self.fields.contains_key(*field)) {
            let _ = writeln!(text, " -{field}");
        }
        for (field, line) in &self.fields {
            if before.fields.get(field) != Some(line) {
                let _ = writeln!(text, " {line}");
            }
        }
    }
}
