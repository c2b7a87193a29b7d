//! What comes from a function's answer into a text: as it is written there, or as the text writes such things.

use std::collections::BTreeMap;

use krm_yaml::{
    DocumentCopy, Edit, EditError, File, NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType, Value,
};

use super::remarks::{Remarks, Slot};
use super::same::{At, is_noise};
use crate::merge::node::{Field, Fields};
use crate::print::source_text;

/// A scalar without its style.
pub(super) fn scalar(scalar: Scalar<'_>) -> Value<'_> {
    match scalar.resolve() {
        ScalarType::Null => Value::Null,
        ScalarType::Bool(value) => Value::Bool(value),
        ScalarType::Int(_) | ScalarType::Float(_) => Value::Number(scalar.value()),
        ScalarType::String => Value::String(scalar.value()),
    }
}

/// A key as it is written anew: a word that needs no quotes there needs none here.
pub(super) fn key(key: NodeRef<'_>) -> Value<'_> {
    let key = key.resolve();
    let plain = |it: &Scalar<'_>| it.style() == ScalarStyle::Plain && key.anchor().is_none();
    match key.as_scalar() {
        Some(it) if plain(&it) && it.resolve() == it.resolve_1_1() => scalar(it),
        Some(it) if !plain(&it) => scalar(it),
        _ => Value::Node(key),
    }
}

/// What stands in a text already, and so does not come again.
#[derive(Debug, Default)]
pub(super) struct Known<'a> {
    /// Comments of the text.
    pub(super) comments: BTreeMap<&'a str, usize>,
}

impl Known<'_> {
    fn has(&self, comment: &str) -> bool {
        self.comments.contains_key(comment)
    }
}

/// The value of an entry that comes with its comments, where it has some that are new.
pub(super) fn entry<'a>(
    slot: Slot<'a>,
    at: At,
    theirs: &Remarks<'a>,
    known: &Known<'_>,
) -> Result<Value<'a>, EditError> {
    let around: Vec<&str> = theirs.above(slot).iter().copied().chain(theirs.beside(slot)).collect();
    let is_known = around.iter().any(|comment| known.has(comment));
    let value = value(slot.value, at, known)?;
    let is_as_written = matches!(value, Value::Node(_));
    let is_leaf = slot.value.as_scalar().is_some();
    Ok(match slot.value.kind() {
        // A copy of its own has no comments around it.
        _ if is_known && is_as_written && !is_leaf => copy(slot.value, known)?,
        NodeKind::Scalar(_) if !around.is_empty() && !is_known => Value::Node(slot.value),
        _ => value,
    })
}

/// A value without the annotations of the wire. What is written by lines comes with its comments, but for those that
/// stand in the text already; what is written in brackets is written anew, and so is what leans on anchors.
pub(super) fn value<'a>(
    node: NodeRef<'a>,
    at: At,
    known: &Known<'_>,
) -> Result<Value<'a>, EditError> {
    let node = node.resolve();
    if let Some(it) = node.as_scalar() {
        let is_as_written = it.style().is_block() || node.tag().is_some();
        return Ok(if is_as_written { Value::Node(node) } else { scalar(it) });
    }
    if at != At::Below && node.kind() == NodeKind::Mapping {
        let fields = Fields::of(node, true);
        let own = fields.iter().filter(|(name, field)| !is_noise(name, *field, at));
        let entry = |(name, field): (&str, Field<'a>)| {
            Ok((key(field.key), value(field.value, at.step(name), known)?))
        };
        return own.map(entry).collect::<Result<_, _>>().map(Value::Mapping);
    }
    let is_bound = |it: NodeRef<'_>| it.kind() == NodeKind::Alias || it.anchor().is_some();
    if !node.is_block() || node.descendants().any(is_bound) {
        return node.to_value().map_err(|error| EditError::new(node.span(), error));
    }
    let comments = || node.document().comments();
    let has_known = || {
        let inside = comments().into_iter().filter(|it| node.span().contains(it.span));
        inside.into_iter().any(|it| known.has(it.text.trim_end()))
    };
    let is_suspect = node.text().contains('#') && !known.comments.is_empty();
    if is_suspect && has_known() { copy(node, known) } else { Ok(Value::Node(node)) }
}

/// A copy of a node without comments that are known.
fn copy<'a>(node: NodeRef<'a>, known: &Known<'_>) -> Result<Value<'a>, EditError> {
    let whole = |error: krm_yaml::ReadError| EditError::new(node.span(), error);
    let lines = source_text::text(node);
    let lines =
        lines.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("  {line}\n") });
    let copy = File::parse(format!("x:\n{}", lines.collect::<String>())).map_err(whole)?;
    let Some(document) = copy.document(0) else { return Ok(Value::Node(node)) };
    let mut edit = Edit::new(&copy);
    let comments = document.comments();
    for comment in comments.iter().filter(|it| known.has(it.text.trim_end())) {
        edit.replace_comment(0, comment, None);
    }
    let clean = File::parse(edit.apply()?).map_err(whole)?;
    let document = clean.document(0).filter(|it| it.error().is_none());
    let value = document.and_then(|it| it.root()?.as_mapping()?.get("x"));
    let Some(value) = value else { return Ok(Value::Node(node)) };
    Ok(Value::OwnedNode(DocumentCopy::new(value.document(), &[], &[])?.owned_node(value)))
}
