//! The value of a subtree with its aliases expanded, within limits: a small document can expand to a huge value.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::document::DocumentRef;
use crate::node::{NodeKind, ScalarStyle};
use crate::node_ref::NodeRef;
use crate::scalar::ScalarType;
use crate::value::Value;

/// The maximum number of nodes after aliases are expanded.
const MAX_NODES: usize = 10_000_000;

/// The bytes of scalars that aliases may add to those of the document.
const MAX_ADDED_BYTES: usize = 64 << 20;

/// The maximum depth after aliases are expanded; more than a document can nest by itself.
const MAX_DEPTH: usize = 1000;

/// A subtree is too large or too deep after its aliases are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpansionError {
    /// More nodes than this.
    Nodes(usize),
    /// More bytes of scalars than this.
    Bytes(usize),
    /// More levels than this.
    Levels(usize),
}

impl std::fmt::Display for ExpansionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (limit, unit) = match self {
            Self::Nodes(limit) => (limit, "nodes"),
            Self::Bytes(limit) => (limit, "bytes"),
            Self::Levels(limit) => (limit, "levels"),
        };
        write!(f, "aliases expand to more than {limit} {unit}")
    }
}

impl std::error::Error for ExpansionError {}

impl crate::KindParameter for ExpansionError {}

/// What is left of the limits while the aliases of a document are expanded.
#[derive(Clone, Debug)]
pub struct ExpansionBudget {
    nodes: usize,
    bytes: usize,
    depth: usize,
    max_nodes: usize,
    max_bytes: usize,
}

impl ExpansionBudget {
    /// The budget for one expansion of a node of the document.
    pub fn of(document: DocumentRef<'_>) -> Self {
        let own = document.node_count();
        let max_nodes = MAX_NODES.min(own.saturating_mul(1000).max(10_000)).max(own);
        let max_bytes = document.span().len() as usize + MAX_ADDED_BYTES;
        Self { nodes: max_nodes, bytes: max_bytes, depth: MAX_DEPTH, max_nodes, max_bytes }
    }

    /// Takes a node, with the text of a scalar, and goes one level down. Call [`leave`](Self::leave) after its children.
    ///
    /// # Errors
    /// A limit is reached.
    pub fn enter(&mut self, node: NodeRef<'_>) -> Result<(), ExpansionError> {
        let bytes = node.as_scalar().map_or(0, |scalar| scalar.raw().len());
        self.nodes = self.nodes.checked_sub(1).ok_or(ExpansionError::Nodes(self.max_nodes))?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or(ExpansionError::Bytes(self.max_bytes))?;
        self.depth = self.depth.checked_sub(1).ok_or(ExpansionError::Levels(MAX_DEPTH))?;
        Ok(())
    }

    /// Goes one level up.
    pub fn leave(&mut self) {
        self.depth += 1;
    }

    /// The error for an alias inside the node that it refers to, which has no end.
    pub fn endless() -> ExpansionError {
        ExpansionError::Levels(MAX_DEPTH)
    }
}

impl<'a> NodeRef<'a> {
    /// The value of the subtree, with aliases expanded, merge keys applied, and the last of duplicate keys.
    ///
    /// # Errors
    /// The expansion of a small document can be huge, so its nodes, bytes and levels are limited.
    pub fn to_value(self) -> Result<Value<'a>, ExpansionError> {
        expand(self, &mut ExpansionBudget::of(self.document))
    }
}

fn expand<'a>(
    node: NodeRef<'a>,
    budget: &mut ExpansionBudget,
) -> Result<Value<'a>, ExpansionError> {
    let node = node.resolve();
    budget.enter(node)?;
    let value = match node.kind() {
        NodeKind::Scalar(_) => {
            node.as_scalar().map_or(Value::Null, |scalar| match scalar.resolve() {
                ScalarType::Null => Value::Null,
                ScalarType::Bool(value) => Value::Bool(value),
                ScalarType::Int(_) | ScalarType::Float(_) => Value::Number(scalar.value()),
                ScalarType::String => Value::String(scalar.value()),
            })
        }
        NodeKind::Sequence => {
            let items = node.children().map(|item| expand(item, budget));
            Value::Sequence(items.collect::<Result<_, _>>()?)
        }
        NodeKind::Mapping => {
            let mut entries = Entries::default();
            let mut merged = Vec::new();
            for entry in node.as_mapping().into_iter().flat_map(|it| it.entries()) {
                let value = expand(entry.value, budget)?;
                let key = entry.key.as_scalar();
                if entry.is("<<") && key.is_some_and(|key| key.style() == ScalarStyle::Plain) {
                    merged.push(value);
                } else {
                    entries.put(expand(entry.key, budget)?, value, true);
                }
            }
            for source in merged {
                entries.inherit(source);
            }
            Value::Mapping(entries.list)
        }
        // An alias to itself: `resolve` returns the same node.
        NodeKind::Alias => return Err(ExpansionBudget::endless()),
    };
    budget.leave();
    Ok(value)
}

/// The entries of a mapping while it is expanded; the last of duplicate keys counts.
#[derive(Default)]
struct Entries<'a> {
    list: Vec<(Value<'a>, Value<'a>)>,
    /// The index of each string key.
    index: BTreeMap<Cow<'a, str>, usize>,
}

impl<'a> Entries<'a> {
    /// Adds an entry, or replaces the existing one if `replace` is true.
    fn put(&mut self, key: Value<'a>, value: Value<'a>, replace: bool) {
        if let Value::String(name) = &key {
            match self.index.entry(name.clone()) {
                Entry::Occupied(at) => {
                    if replace {
                        self.list[*at.get()].1 = value;
                    }
                    return;
                }
                Entry::Vacant(free) => free.insert(self.list.len()),
            };
        }
        self.list.push((key, value));
    }

    /// Adds the entries of a merge key that the mapping itself does not have.
    fn inherit(&mut self, source: Value<'a>) {
        match source {
            Value::Sequence(sources) => sources.into_iter().for_each(|source| self.inherit(source)),
            Value::Mapping(entries) => {
                entries.into_iter().for_each(|(key, value)| self.put(key, value, false));
            }
            _ => {}
        }
    }
}
