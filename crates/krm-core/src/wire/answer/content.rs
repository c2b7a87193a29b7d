//! What comes from a function's answer into a text: as it is written there, or as the text writes such things.

use std::collections::BTreeMap;

use krm_yaml::{Edit, EditError, File, Graft, NodeKind, NodeRef, Resolved, Scalar, Value};

use super::same::{At, is_noise};
use crate::merge::Fields;
use crate::subtree;

/// A scalar without its style.
pub(super) fn scalar(scalar: Scalar<'_>) -> Value<'_> {
    match scalar.resolve() {
        Resolved::Null => Value::Null,
        Resolved::Bool(value) => Value::Bool(value),
        Resolved::Int(_) | Resolved::Float(_) => Value::Number(scalar.value()),
        Resolved::String => Value::String(scalar.value()),
    }
}

/// A key as it is written anew.
pub(super) fn key(key: NodeRef<'_>) -> Value<'_> {
    key.resolve().as_scalar().map_or(Value::Node(key), scalar)
}

/// A value without the annotations of the wire. What is written by lines comes with its comments, but for those that
/// stand in the text already; what is written in brackets is written anew, and so is what leans on anchors.
pub(super) fn value<'a>(
    node: NodeRef<'a>,
    at: At,
    known: &BTreeMap<&str, usize>,
) -> Result<Value<'a>, EditError> {
    let node = node.resolve();
    if let Some(it) = node.as_scalar() {
        let is_as_written = it.style().is_block() || node.tag().is_some();
        return Ok(if is_as_written { Value::Node(node) } else { scalar(it) });
    }
    if matches!(at, At::Root | At::Metadata | At::Annotations) && node.kind() == NodeKind::Mapping {
        let fields = Fields::of(node, true);
        let own = fields.iter().filter(|(name, field)| !is_noise(name, *field, at));
        let entry = |(name, field): (&str, crate::merge::Field<'a>)| {
            Ok((key(field.key), value(field.value, at.step(name), known)?))
        };
        return own.map(entry).collect::<Result<_, _>>().map(Value::Mapping);
    }
    let is_bound = |it: NodeRef<'_>| it.kind() == NodeKind::Alias || it.anchor().is_some();
    if !node.is_block() || node.descendants().any(is_bound) {
        let whole = |error: krm_yaml::ExpansionError| EditError {
            message: error.to_string(),
            span: node.span(),
        };
        return node.to_value().map_err(whole);
    }
    if node.text().contains('#') && !known.is_empty() {
        return without_known(node, known);
    }
    Ok(Value::Node(node))
}

/// A copy of a node without some comments.
fn without_known<'a>(
    node: NodeRef<'a>,
    known: &BTreeMap<&str, usize>,
) -> Result<Value<'a>, EditError> {
    let whole =
        |error: krm_yaml::ReadError| EditError { message: error.to_string(), span: node.span() };
    let copy = File::parse(subtree::end_line(subtree::text(node))).map_err(whole)?;
    let Some(document) = copy.document(0) else { return Ok(Value::Node(node)) };
    let comments = document.comments();
    let known: Vec<_> =
        comments.iter().filter(|it| known.contains_key(it.text.trim_end())).collect();
    if known.is_empty() {
        return Ok(Value::Node(node));
    }
    let mut edit = Edit::new(&copy);
    known.into_iter().for_each(|comment| edit.replace_comment(0, comment, None));
    let clean = File::parse(edit.apply()?).map_err(whole)?;
    Ok(Graft::root(clean).map_or(Value::Node(node), Value::Graft))
}
