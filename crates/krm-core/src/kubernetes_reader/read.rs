//! The JSON that Kubernetes makes of a node.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_yaml::{
    ExpansionBudget, ExpansionError, NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType,
};

use super::kinds::ReaderKind;
use super::{numbers, scalars};
use crate::print::json;
use crate::{Diagnostic, diagnostics::node_type};

/// A node that Kubernetes cannot read, or not as krm can tell.
#[derive(Clone, Debug)]
pub struct Unreadable<'a> {
    /// The node.
    pub node: NodeRef<'a>,
    /// Why. Boxed, because it is part of an error and should be small.
    pub kind: Box<ReaderKind>,
}

impl<'a> Unreadable<'a> {
    fn new(node: NodeRef<'a>, kind: ReaderKind) -> Self {
        Self { node, kind: Box::new(kind) }
    }

    /// The error, with the location of the node.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let file = self.node.document().file();
        Diagnostic::error(ReaderKind::clone(&self.kind)).at(file, self.node.span())
    }
}

/// The JSON of a node as Kubernetes reads it, with aliases and merge keys expanded.
///
/// ```
/// let file = krm_yaml::File::parse("on: 0b11\nmode: 0644\nbase: &b {a: 1}\nuse: {a: 2, <<: *b}\n".to_owned())?;
/// let root = file.document(0).and_then(|it| it.root()).expect("a root");
/// let json = krm_core::kubernetes_reader::read(root).map_err(|it| it.to_diagnostic());
/// assert_eq!(json.as_deref(), Ok(r#"{"true":3,"mode":420,"base":{"a":1},"use":{"a":1}}"#));
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
///
/// # Errors
/// Kubernetes refuses the document, or what it reads is not certain.
pub fn read(node: NodeRef<'_>) -> Result<String, Unreadable<'_>> {
    let mut reader = Reader { budget: ExpansionBudget::of(node.document()) };
    let value = reader.value(node)?;
    let mut out = String::new();
    value.write(&mut out);
    Ok(out)
}

/// Whether Kubernetes reads a subtree exactly as it is written: no aliases, merge keys, tags, or scalars that it reads differently.
pub fn is_read_as_written(node: NodeRef<'_>) -> bool {
    node.descendants().all(|node| {
        node.tag().is_none()
            && match node.as_scalar() {
                Some(scalar) => is_same(scalar) && !is_merge_key(node),
                None => node.kind() != NodeKind::Alias && !has_other_keys(node),
            }
    })
}

/// Whether a scalar is the same for Kubernetes and in JSON.
fn is_same(scalar: Scalar<'_>) -> bool {
    let read = scalar.resolve();
    let is_number = match read {
        ScalarType::Float(number) => number.is_finite(),
        ScalarType::Int(_) => json::is_number(&scalar.value()),
        _ => true,
    };
    is_number && scalars::resolve(scalar).is_ok_and(|it| it == read)
}

/// Whether a mapping has keys that are not strings.
fn has_other_keys(node: NodeRef<'_>) -> bool {
    let mut entries = node.as_mapping().into_iter().flat_map(|it| it.entries());
    entries.any(|entry| entry.key.as_str().is_none())
}

/// What Kubernetes reads.
enum Json<'a> {
    /// A value that is JSON already.
    Literal(Cow<'static, str>),
    String(Cow<'a, str>),
    Sequence(Vec<Json<'a>>),
    Mapping(Entries<'a>),
}

impl Json<'_> {
    fn write(&self, out: &mut String) {
        match self {
            Self::Literal(text) => out.push_str(text),
            Self::String(text) => krm_yaml::write_double_quoted(text, out),
            Self::Sequence(items) => json::write_list(items, ['[', ']'], out, Self::write),
            Self::Mapping(entries) => {
                json::write_list(&entries.list, ['{', '}'], out, |(key, value), out| {
                    krm_yaml::write_double_quoted(&key.text, out);
                    out.push(':');
                    value.write(out);
                });
            }
        }
    }
}

/// A key: the string that it becomes, and the value that Go compares. Two keys may become the same string.
#[derive(Clone, PartialEq, Eq)]
struct Key<'a> {
    text: Cow<'a, str>,
    value: KeyValue,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyValue {
    Bool,
    Int,
    /// The bits of the number, because different numbers may be printed alike.
    Float(u64),
    String,
}

/// The entries of a mapping in the order of their first occurrence; the last value counts.
#[derive(Default)]
struct Entries<'a> {
    list: Vec<(Key<'a>, Json<'a>)>,
    index: BTreeMap<Cow<'a, str>, usize>,
}

impl<'a> Entries<'a> {
    /// Adds or replaces an entry; false if another key becomes the same string.
    fn put(&mut self, key: Key<'a>, value: Json<'a>) -> bool {
        match self.index.get(&key.text) {
            Some(at) if self.list[*at].0 != key => return false,
            Some(at) => self.list[*at].1 = value,
            None => {
                self.index.insert(key.text.clone(), self.list.len());
                self.list.push((key, value));
            }
        }
        true
    }
}

struct Reader {
    budget: ExpansionBudget,
}

impl Reader {
    fn value<'a>(&mut self, node: NodeRef<'a>) -> Result<Json<'a>, Unreadable<'a>> {
        let (alias, node) = (node, node.resolve());
        let too_large =
            |error: ExpansionError| Unreadable::new(alias, ReaderKind::Expansion { error });
        self.budget.enter(node).map_err(too_large)?;
        let value = match node.kind() {
            NodeKind::Scalar(_) => scalar(node)?,
            NodeKind::Sequence => {
                let items = node.children().map(|item| self.value(item));
                Json::Sequence(items.collect::<Result<_, _>>()?)
            }
            NodeKind::Mapping => Json::Mapping(self.mapping(node)?),
            NodeKind::Alias => return Err(too_large(ExpansionBudget::endless())),
        };
        self.budget.leave();
        Ok(value)
    }

    /// Compat: entries and merge keys are taken in their order, so a merge key replaces what precedes it.
    fn mapping<'a>(&mut self, node: NodeRef<'a>) -> Result<Entries<'a>, Unreadable<'a>> {
        let mut entries = Entries::default();
        let mut put = |node: NodeRef<'a>, key: Key<'a>, value: Json<'a>| {
            let kind = ReaderKind::SameKey { key: key.text.clone().into_owned().into() };
            let is_unique = entries.put(key, value);
            if is_unique { Ok(()) } else { Err(Unreadable::new(node, kind)) }
        };
        for entry in node.as_mapping().into_iter().flat_map(|it| it.entries()) {
            if !is_merge_key(entry.key) {
                let value = self.value(entry.value)?;
                put(entry.key, key(entry.key)?, value)?;
                continue;
            }
            for source in merge_sources(entry.value)? {
                let Json::Mapping(merged) = self.value(source)? else { continue };
                for (key, value) in merged.list {
                    put(source, key, value)?;
                }
            }
        }
        Ok(entries)
    }
}

fn is_merge_key(key: NodeRef<'_>) -> bool {
    let is_plain =
        key.as_scalar().is_some_and(|it| it.style() == ScalarStyle::Plain && it.is("<<"));
    let is_merge = |tag: &str| matches!(tag, "!" | "!!merge" | "!<tag:yaml.org,2002:merge>");
    is_plain && key.value_of_key().is_some() && key.tag().is_none_or(is_merge)
}

/// The mappings of a merge key, the one that takes precedence last.
fn merge_sources(value: NodeRef<'_>) -> Result<Vec<NodeRef<'_>>, Unreadable<'_>> {
    let mut sources: Vec<NodeRef<'_>> = match value.kind() {
        NodeKind::Sequence => value.children().collect(),
        _ => vec![value],
    };
    sources.reverse();
    let is_mapping = |node: &&NodeRef<'_>| node.resolve().kind() == NodeKind::Mapping;
    match sources.iter().find(|node| !is_mapping(node)) {
        Some(node) => Err(Unreadable::new(*node, ReaderKind::InvalidMerge)),
        None => Ok(sources),
    }
}

fn scalar(node: NodeRef<'_>) -> Result<Json<'_>, Unreadable<'_>> {
    let Some(scalar) = node.as_scalar() else { return Ok(Json::Literal("null".into())) };
    let read = scalars::resolve(scalar).map_err(|kind| Unreadable::new(node, kind))?;
    let not_json = || ReaderKind::NotJson { number: scalar.raw().into() };
    Ok(match read {
        ScalarType::String => Json::String(scalar.value()),
        ScalarType::Null => Json::Literal("null".into()),
        ScalarType::Bool(value) => Json::Literal(if value { "true" } else { "false" }.into()),
        ScalarType::Int(value) => Json::Literal(value.unwrap_or_default().to_string().into()),
        ScalarType::Float(number) => match numbers::json(number) {
            Some(number) => Json::Literal(number.into()),
            None => return Err(Unreadable::new(node, not_json())),
        },
    })
}

fn key(node: NodeRef<'_>) -> Result<Key<'_>, Unreadable<'_>> {
    let resolved = node.resolve();
    let invalid = |found| Err(Unreadable::new(node, ReaderKind::InvalidKey { found }));
    let Some(scalar) = resolved.as_scalar() else { return invalid(node_type(resolved)) };
    let read = scalars::resolve(scalar).map_err(|kind| Unreadable::new(node, kind))?;
    let (text, value) = match read {
        ScalarType::String => (scalar.value(), KeyValue::String),
        ScalarType::Bool(value) => (value.to_string().into(), KeyValue::Bool),
        ScalarType::Int(Some(value)) if i64::try_from(value).is_ok() => {
            (value.to_string().into(), KeyValue::Int)
        }
        ScalarType::Float(number) => {
            (numbers::key(number).into(), KeyValue::Float(number.to_bits()))
        }
        ScalarType::Int(_) => return invalid("a number of 64 bits"),
        ScalarType::Null => return invalid("null"),
    };
    Ok(Key { text, value })
}
