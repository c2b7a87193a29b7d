//! Writing tables: the same schema gives the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Schema;
use super::node::{Facts, ListType, Node, NodeId, Shape, Strategy, Tables};
use super::table::TableError;

/// What stands above every table.
const HEAD: &str = "\
# The types of Kubernetes' own kinds. Made by `cargo xtask schema` from the OpenAPI documents of Kubernetes, which are
# Copyright The Kubernetes Authors and under the Apache License, version 2.0. See NOTICE. Do not edit.
";

/// How lines are made: with short names instead of full ones.
struct Writer<'a> {
    tables: &'a Tables,
    /// Short names of packages by their full ones.
    short: BTreeMap<&'a str, &'a str>,
}

impl Schema {
    /// The definitions that were added, as a table to be embedded.
    ///
    /// Defaults that only say what an absent value of the type is anyway (`""`, `0`, `false`) are left out: they come with every
    /// field that is no pointer in Go, and would make items without a key equal.
    pub fn to_table(&self, version: &str) -> Result<String, TableError> {
        write(&self.own, version)
    }
}

pub(super) fn write(tables: &Tables, version: &str) -> Result<String, TableError> {
    let writer = Writer { tables, short: short_names(tables)? };
    let mut body = String::new();
    for (full, short) in &writer.short {
        let _ = writeln!(body, "package {short} {full}");
    }
    let kinds = writer.kinds()?;
    let count: usize = kinds.values().map(BTreeSet::len).sum();
    let mut types: Vec<(String, NodeId)> =
        tables.definitions.iter().map(|(name, id)| (writer.name(name), *id)).collect();
    types.sort();
    let mut fields = 0;
    for (name, id) in &types {
        let node = tables.node(*id);
        fields += node.fields.len();
        writer.definition(&mut body, name, node, kinds.get(name.as_str()))?;
    }
    let counts = format!("types {}\nfields {fields}\nkinds {count}\n", types.len());
    let digest = digest(body.as_bytes());
    Ok(format!("{HEAD}kubernetes {version}\n{counts}digest {digest:016x}\n{body}"))
}

/// A fingerprint that shows an edit by hand (64-bit FNV-1a).
pub(super) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn fault(message: String) -> TableError {
    TableError { line: 0, message }
}

/// Short names for the packages: the last word of the full name, and the one before it where that is a version.
fn short_names(tables: &Tables) -> Result<BTreeMap<&str, &str>, TableError> {
    if !tables.packages.is_empty() {
        return Ok(tables.packages.iter().map(|(full, short)| (&**full, &**short)).collect());
    }
    let packages = tables.definitions.keys().filter_map(|name| name.rsplit_once('.'));
    let packages: BTreeSet<&str> = packages.map(|(package, _)| package).collect();
    let short: BTreeMap<&str, &str> = packages.iter().map(|full| (*full, short(full))).collect();
    let unique: BTreeSet<&&str> = short.values().collect();
    if unique.len() < short.len() {
        return Err(fault("two packages have the same short name".to_owned()));
    }
    Ok(short)
}

fn short(package: &str) -> &str {
    let mut dots = package.rmatch_indices('.').map(|(at, _)| at + 1);
    let last = dots.next().unwrap_or(0);
    let is_version = |word: &str| {
        word.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let start = if is_version(&package[last..]) { dots.next().unwrap_or(0) } else { last };
    &package[start..]
}

impl Writer<'_> {
    fn name(&self, full: &str) -> String {
        match full
            .rsplit_once('.')
            .and_then(|(package, name)| Some((self.short.get(package)?, name)))
        {
            Some((short, name)) => format!("{short}.{name}"),
            None => full.to_owned(),
        }
    }

    /// The `apiVersion`s of each definition. Kinds without metadata are requests and answers, which nobody keeps in files.
    fn kinds(&self) -> Result<BTreeMap<String, BTreeSet<&str>>, TableError> {
        let names: BTreeMap<NodeId, &str> =
            self.tables.definitions.iter().map(|(name, id)| (*id, &**name)).collect();
        let mut kinds: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for (api_version, by_kind) in &self.tables.kinds {
            for (kind, id) in by_kind {
                let reference = self.tables.node(*id).reference.as_deref();
                let Some(full) = reference.or_else(|| names.get(id).copied()) else {
                    return Err(fault(format!("{api_version} {kind} has no definition")));
                };
                let definition = self.tables.definitions.get(full).map(|id| self.tables.node(*id));
                if definition.is_none_or(|node| node.field("metadata").is_none()) {
                    continue;
                }
                let name = self.name(full);
                if name.rsplit('.').next() != Some(kind) {
                    return Err(fault(format!("{full} is of the kind {kind}")));
                }
                kinds.entry(name).or_default().insert(api_version);
            }
        }
        Ok(kinds)
    }

    fn definition(
        &self,
        text: &mut String,
        name: &str,
        node: &Node,
        kinds: Option<&BTreeSet<&str>>,
    ) -> Result<(), TableError> {
        let line = text.len();
        let _ = write!(text, "type {name}");
        let is_plain = node.shape == Shape::Object && node.child.is_none();
        if !is_plain || node.facts.as_ref().is_some_and(|facts| facts.format.is_some()) {
            let _ = write!(text, " {}", self.shape(node)?);
        }
        let kinds = kinds.into_iter().flatten().map(|api_version| format!("kind={api_version}"));
        let words: Vec<String> = facts(node).into_iter().chain(kinds).collect();
        finish_line(text, line, &words)?;
        for field in &node.fields {
            let line = text.len();
            let mark = if field.is_required { "!" } else { "" };
            let node = self.tables.node(field.node);
            if !node.fields.is_empty() {
                return Err(fault(format!(
                    "{name}.{} has fields without a definition",
                    field.name
                )));
            }
            let _ = write!(text, " {}{mark} {}", field.name, self.shape(node)?);
            finish_line(text, line, &facts(node))?;
        }
        Ok(())
    }

    /// The word for a type.
    fn shape(&self, node: &Node) -> Result<String, TableError> {
        if let Some(name) = &node.reference {
            return Ok(format!("@{}", self.name(name)));
        }
        let Some(child) = node.child else {
            let format = node.facts.as_ref().and_then(|facts| facts.format.as_deref());
            let format = format.filter(|format| *format != node.shape.name());
            return Ok(match format {
                Some(format) => format!("{}:{format}", node.shape.name()),
                None => node.shape.name().to_owned(),
            });
        };
        let mark = if node.shape == Shape::Array { "[]" } else { "{}" };
        let child = self.tables.node(child);
        let says_more =
            facts(child).iter().any(|word| !word.is_empty()) || !child.fields.is_empty();
        if says_more {
            return Err(fault("a list or map of a type that is not defined by name".to_owned()));
        }
        Ok(format!("{mark}{}", self.shape(child)?))
    }
}

/// The words for the facts of a node.
fn facts(node: &Node) -> Vec<String> {
    let Some(facts) = node.facts.as_deref() else { return Vec::new() };
    let mut words = Vec::new();
    match facts.list_type {
        Some(ListType::Atomic) => words.push("atomic".to_owned()),
        Some(ListType::Set) => words.push("set".to_owned()),
        Some(ListType::Map) => words.push(format!("keys={}", facts.keys.join(","))),
        None => {}
    }
    words.extend(strategy(facts.strategy));
    words.extend(facts.merge_key.as_ref().map(|key| format!("by={key}")));
    words.extend(telling_default(facts).map(|value| format!("default={value}")));
    if !facts.enumeration.is_empty() {
        words.push(format!("enum={}", facts.enumeration.join(",")));
    }
    let flags = [
        (facts.is_atomic_map, "whole"),
        (facts.is_nullable, "nullable"),
        (facts.keeps_unknown, "open"),
        (facts.is_resource, "resource"),
    ];
    words.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| (*word).to_owned()));
    words
}

fn telling_default(facts: &Facts) -> Option<&str> {
    facts.default.as_deref().filter(|value| !matches!(*value, "" | "0" | "false"))
}

fn strategy(strategy: Strategy) -> Option<String> {
    let all = [
        (strategy.merge, "merge"),
        (strategy.replace, "replace"),
        (strategy.retain_keys, "retainKeys"),
    ];
    let words: Vec<&str> =
        all.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| *word).collect();
    (!words.is_empty()).then(|| format!("patch={}", words.join(",")))
}

/// Ends the line that began at `start`. A word with a space in it would be read as two.
fn finish_line(text: &mut String, start: usize, words: &[String]) -> Result<(), TableError> {
    if let Some(word) = words.iter().find(|word| word.contains(char::is_whitespace)) {
        return Err(fault(format!("`{word}` cannot be written: {}", &text[start..])));
    }
    for word in words {
        let _ = write!(text, " {word}");
    }
    text.push('\n');
    Ok(())
}
