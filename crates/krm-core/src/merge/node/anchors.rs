//! Anchors and aliases: a node that is copied to another document must have the same value there.

use std::cell::Cell;
use std::collections::HashSet;

use krm_yaml::{
    ExpansionError, File, NodeKind, NodeRef, OwnedNode, ScalarStyle, ScalarType, Value,
};

use super::document_info::DocumentInfo;
use crate::Diagnostic;
use crate::compare::{Field, Fields, custom_tag};
use crate::merge::kinds::MergeKind;

/// How many nodes a value may have with its aliases expanded.
const MAX_NODES: usize = 1_000_000;

/// How many bytes the expanded values of a merge may have together.
const MAX_BYTES: usize = 64 << 20;

/// How deep it may be.
const MAX_DEPTH: usize = 1000;

/// Whether a node must be expanded before it is copied: it has an alias to an anchor outside of it, an anchor whose name the destination
/// has as well, or an anchor or alias while the destination is JSON.
pub(super) fn needs_expansion(
    node: NodeRef<'_>,
    home: &DocumentInfo<'_>,
    destination: &DocumentInfo<'_>,
) -> bool {
    if home.anchors.is_empty() {
        return false;
    }
    let inside = node.span();
    let mut waiting = vec![node];
    while let Some(next) = waiting.pop() {
        let refers_outside = next.target().is_some_and(|target| !inside.contains(target.span()));
        let collides = next.anchor().is_some_and(|anchor| {
            destination.anchors.contains_key(anchor) || home.anchors.get(anchor) != Some(&1)
        });
        let is_not_json =
            destination.is_json && (next.anchor().is_some() || next.target().is_some());
        if refers_outside || collides || is_not_json {
            return true;
        }
        waiting.extend(next.children());
    }
    false
}

/// Whether two aliases refer to an anchor at the same path: a change there is merged there.
pub(super) fn is_same_alias(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    let targets = a.target().zip(b.target());
    a.text() == b.text() && targets.is_some_and(|(a, b)| a.path() == b.path())
}

/// A value with its aliases expanded, without anchors and without some of its entries.
pub(super) fn expand<'a>(
    node: NodeRef<'a>,
    excluded: &[NodeRef<'a>],
    expanded: &Cell<usize>,
) -> Result<Value<'a>, Diagnostic> {
    let excluded: HashSet<usize> = excluded.iter().map(|node| node.index()).collect();
    let error =
        |kind: MergeKind| Diagnostic::error(kind).at(node.document().file(), node.full_span());
    if let Some(tag) = find_custom_tag(node) {
        return Err(error(MergeKind::TaggedAlias { tag: tag.to_owned() }));
    }
    let mut remaining = MAX_NODES;
    let value = value(node, &excluded, &mut remaining, MAX_DEPTH).ok_or_else(|| {
        error(MergeKind::AliasExpansion { error: ExpansionError::Nodes(MAX_NODES) })
    })?;
    expanded.set(expanded.get().saturating_add(value.text_length()));
    match expanded.get() > MAX_BYTES {
        true => Err(error(MergeKind::AliasExpansion { error: ExpansionError::Bytes(MAX_BYTES) })),
        false => Ok(value),
    }
}

/// A custom tag in a node. A [`Value`] cannot have one, so expanding the node would lose it.
fn find_custom_tag(node: NodeRef<'_>) -> Option<&str> {
    let mut visited = HashSet::new();
    let mut waiting = vec![node];
    while let Some(next) = waiting.pop().map(NodeRef::resolve) {
        if let Some(tag) = custom_tag(next) {
            return Some(tag);
        }
        // Aliases may lead to the same node many times.
        if visited.insert(next.index()) {
            waiting.extend(next.children());
        }
    }
    None
}

fn value<'a>(
    node: NodeRef<'a>,
    excluded: &HashSet<usize>,
    remaining: &mut usize,
    depth: usize,
) -> Option<Value<'a>> {
    *remaining = remaining.checked_sub(1)?;
    let depth = depth.checked_sub(1)?;
    // What is left out at the anchor is not left out where an alias repeats it.
    let nothing = HashSet::new();
    let excluded = if node.kind() == NodeKind::Alias { &nothing } else { excluded };
    let node = node.resolve();
    match node.kind() {
        NodeKind::Mapping => {
            let fields = Fields::of(node, true);
            let kept = fields.iter().filter(|(_, field)| !excluded.contains(&field.value.index()));
            let entry = |(_, field): (&str, Field<'a>)| {
                let key = plain_word(field.key).or_else(|| scalar_value(field.key));
                let key = key.or_else(|| value(field.key, excluded, remaining, depth))?;
                Some((key, value(field.value, excluded, remaining, depth)?))
            };
            kept.map(entry).collect::<Option<_>>().map(Value::Mapping)
        }
        NodeKind::Sequence => {
            let kept = node.children().filter(|item| !excluded.contains(&item.index()));
            let items = kept.map(|item| value(item, excluded, remaining, depth));
            items.collect::<Option<_>>().map(Value::Sequence)
        }
        NodeKind::Scalar(_) => scalar_value(node),
        // An alias that contains itself.
        NodeKind::Alias => None,
    }
}

/// The value of a scalar without its style; `None` for any other node.
pub(super) fn scalar_value(node: NodeRef<'_>) -> Option<Value<'_>> {
    let scalar = node.resolve().as_scalar()?;
    Some(match scalar.resolve() {
        // `on` is a boolean to YAML 1.1 readers, and quotes would make it a string.
        ScalarType::String if scalar.resolve_1_1() != ScalarType::String => {
            plain_word(node).unwrap_or(Value::String(scalar.value()))
        }
        ScalarType::Null => Value::Null,
        ScalarType::Bool(value) => Value::Bool(value),
        ScalarType::Int(_) | ScalarType::Float(_) => Value::Number(scalar.value()),
        ScalarType::String => Value::String(scalar.value()),
    })
}

/// A plain scalar that is not a string to YAML 1.1 readers, in its own spelling, by which keys are paired.
pub(super) fn plain_word<'a>(node: NodeRef<'_>) -> Option<Value<'a>> {
    let scalar = node.resolve().as_scalar().filter(|it| it.style() == ScalarStyle::Plain)?;
    let is_word = scalar.resolve_1_1() != ScalarType::String && !scalar.raw().is_empty();
    let file = is_word.then(|| File::parse(scalar.value().into_owned()))?.ok()?;
    OwnedNode::root(file).map(Value::OwnedNode)
}
