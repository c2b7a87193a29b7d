//! Writing the embedded table. The same schema always gives the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Schema;
use super::node::{
    Attributes, ListType, Node, NodeId, Nodes, PatchStrategy, TypeTables, ValueKind,
};
use super::table::TableError;

/// The header of every table.
const HEAD: &str = "\
# The types of Kubernetes' own kinds. Made by `cargo xtask schema` from the OpenAPI documents of Kubernetes, which are
# Copyright The Kubernetes Authors and under the Apache License, version 2.0. See NOTICE. Do not edit.
";

/// Writes a table.
#[derive(Default)]
pub(super) struct TableWriter<'a> {
    /// Short names of Go packages by their full names.
    pub(super) packages: BTreeMap<&'a str, &'a str>,
    /// Types by their short names.
    pub(super) types: BTreeMap<String, TypeEntry<'a>>,
}

/// A type to be written.
pub(super) struct TypeEntry<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) id: NodeId,
    pub(super) api_versions: BTreeSet<&'a str>,
}

impl Schema {
    /// The definitions that were added, as a table to be embedded.
    ///
    /// The defaults `""`, `0` and `false` are left out: the generated OpenAPI has them for every field that is not a pointer in Go,
    /// and as defaults of merge keys they would make elements without the key equal.
    pub fn to_table(&self, version: &str) -> Result<String, TableError> {
        TableWriter::of(&self.own)?.write(version)
    }
}

impl<'a> TableWriter<'a> {
    fn of(tables: &'a TypeTables) -> Result<Self, TableError> {
        let mut writer = Self { packages: short_names(tables)?, types: BTreeMap::new() };
        for (name, id) in &tables.definitions {
            let entry = TypeEntry { nodes: &tables.nodes, id: *id, api_versions: BTreeSet::new() };
            writer.types.insert(writer.short(name), entry);
        }
        for (api_version, kinds) in &tables.kinds {
            for (kind, id) in kinds {
                writer.add_kind(api_version, kind, tables.nodes.get(*id).reference.as_deref())?;
            }
        }
        Ok(writer)
    }

    /// Registers a kind. Kinds without metadata are requests and responses, which are never stored in files.
    fn add_kind(
        &mut self,
        api_version: &'a str,
        kind: &str,
        definition: Option<&str>,
    ) -> Result<(), TableError> {
        let short = definition.map(|name| self.short(name)).unwrap_or_default();
        let Some(entry) = self.types.get_mut(&short) else {
            return Err(error(format!("{api_version} {kind} has no definition")));
        };
        if entry.nodes.get(entry.id).field("metadata").is_none() {
            return Ok(());
        }
        if short.rsplit('.').next() != Some(kind) {
            return Err(error(format!("{short} is not named by its kind, {kind}")));
        }
        entry.api_versions.insert(api_version);
        Ok(())
    }

    pub(super) fn write(&self, version: &str) -> Result<String, TableError> {
        let mut body = String::new();
        for (full, short) in &self.packages {
            let _ = writeln!(body, "package {short} {full}");
        }
        let (mut fields, mut kinds) = (0, 0);
        for (name, entry) in &self.types {
            self.definition(&mut body, name, entry)?;
            fields += entry.nodes.get(entry.id).fields.len();
            kinds += entry.api_versions.len();
        }
        let counts = format!("types {}\nfields {fields}\nkinds {kinds}\n", self.types.len());
        let digest = digest(body.as_bytes());
        Ok(format!("{HEAD}kubernetes {version}\n{counts}digest {digest:016x}\n{body}"))
    }
}

/// A checksum that detects manual edits (64-bit FNV-1a). It is read by the tests only, which is not worth a dependency.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn error(message: String) -> TableError {
    TableError(message)
}

/// Short names for the packages: the last component of the full name, with the one before it if the last is a version.
fn short_names(tables: &TypeTables) -> Result<BTreeMap<&str, &str>, TableError> {
    let packages = tables.definitions.keys().filter_map(|name| name.rsplit_once('.'));
    let packages: BTreeSet<&str> = packages.map(|(package, _)| package).collect();
    let short: BTreeMap<&str, &str> = packages.iter().map(|full| (*full, short(full))).collect();
    let unique: BTreeSet<&&str> = short.values().collect();
    if unique.len() < short.len() {
        return Err(error("two packages have the same short name".to_owned()));
    }
    Ok(short)
}

fn short(package: &str) -> &str {
    let mut dots = package.rmatch_indices('.').map(|(at, _)| at + 1);
    let last = dots.next().unwrap_or(0);
    let is_version = |component: &str| {
        component
            .strip_prefix('v')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let start = if is_version(&package[last..]) { dots.next().unwrap_or(0) } else { last };
    &package[start..]
}

impl TableWriter<'_> {
    /// The short name of a definition; a name without a known package is kept.
    fn short(&self, name: &str) -> String {
        let parts = name.rsplit_once('.');
        match parts.and_then(|(package, last)| Some((self.packages.get(package)?, last))) {
            Some((package, last)) => format!("{package}.{last}"),
            None => name.to_owned(),
        }
    }

    fn definition(
        &self,
        text: &mut String,
        name: &str,
        entry: &TypeEntry<'_>,
    ) -> Result<(), TableError> {
        let (start, nodes) = (text.len(), entry.nodes);
        let node = nodes.get(entry.id);
        let _ = write!(text, "type {name}");
        let is_plain = node.value_kind == ValueKind::Object && node.child.is_none();
        if !is_plain
            || node.attributes.as_ref().is_some_and(|attributes| attributes.format.is_some())
        {
            let _ = write!(text, " {}", self.value_kind(nodes, node)?);
        }
        let kinds = entry.api_versions.iter().map(|api_version| format!("kind={api_version}"));
        let tokens: Vec<String> = attributes(node).into_iter().chain(kinds).collect();
        finish_line(text, start, &tokens)?;
        for field in &node.fields {
            let start = text.len();
            let mark = if field.is_required { "!" } else { "" };
            let node = nodes.get(field.node);
            if !node.fields.is_empty() {
                return Err(error(format!(
                    "{name}.{} has fields without a definition",
                    field.name
                )));
            }
            let _ = write!(text, " {}{mark} {}", field.name, self.value_kind(nodes, node)?);
            finish_line(text, start, &attributes(node))?;
        }
        Ok(())
    }

    /// The name of a type.
    fn value_kind(&self, nodes: &Nodes, node: &Node) -> Result<String, TableError> {
        if let Some(name) = &node.reference {
            return Ok(format!("@{}", self.short(name)));
        }
        let Some(child) = node.child else {
            let format =
                node.attributes.as_ref().and_then(|attributes| attributes.format.as_deref());
            let format = format.filter(|format| *format != node.value_kind.name());
            return Ok(match format {
                Some(format) => format!("{}:{format}", node.value_kind.name()),
                None => node.value_kind.name().to_owned(),
            });
        };
        let mark = if node.value_kind == ValueKind::Array { "[]" } else { "{}" };
        let child = nodes.get(child);
        if !attributes(child).is_empty() || !child.fields.is_empty() {
            return Err(error("a list or map of a type that is not defined by name".to_owned()));
        }
        Ok(format!("{mark}{}", self.value_kind(nodes, child)?))
    }
}

/// The attributes of a node as tokens.
fn attributes(node: &Node) -> Vec<String> {
    let Some(attributes) = node.attributes.as_deref() else { return Vec::new() };
    let mut tokens = Vec::new();
    match attributes.list_type {
        Some(ListType::Atomic) => tokens.push("atomic".to_owned()),
        Some(ListType::Set) => tokens.push("set".to_owned()),
        Some(ListType::Functions) => tokens.push("functions".to_owned()),
        Some(ListType::Map) => tokens.push(format!("keys={}", attributes.keys.join(","))),
        None => {}
    }
    tokens.extend(strategy(attributes.strategy));
    tokens.extend(attributes.merge_key.as_ref().map(|key| format!("by={key}")));
    tokens.extend(significant_default(attributes).map(|value| format!("default={value}")));
    if !attributes.enum_values.is_empty() {
        tokens.push(format!("enum={}", attributes.enum_values.join(",")));
    }
    let flags = [
        (attributes.is_atomic_map, "whole"),
        (attributes.is_nullable, "nullable"),
        (attributes.preserves_unknown_fields, "open"),
        (attributes.is_resource, "resource"),
    ];
    tokens.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, token)| (*token).to_owned()));
    tokens
}

fn significant_default(attributes: &Attributes) -> Option<&str> {
    attributes.default.as_deref().filter(|value| !matches!(*value, "" | "0" | "false"))
}

fn strategy(strategy: PatchStrategy) -> Option<String> {
    let all = [
        (strategy.merge, "merge"),
        (strategy.replace, "replace"),
        (strategy.retain_keys, "retainKeys"),
    ];
    let names: Vec<&str> =
        all.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name).collect();
    (!names.is_empty()).then(|| format!("patch={}", names.join(",")))
}

/// Ends the line that begins at `start`. A token with a space in it would be parsed as two.
fn finish_line(text: &mut String, start: usize, tokens: &[String]) -> Result<(), TableError> {
    if let Some(token) = tokens.iter().find(|token| token.contains(char::is_whitespace)) {
        return Err(error(format!("cannot write `{token}`: {}", &text[start..])));
    }
    for token in tokens {
        let _ = write!(text, " {token}");
    }
    text.push('\n');
    Ok(())
}
