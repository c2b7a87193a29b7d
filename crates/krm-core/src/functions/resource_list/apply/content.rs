//! Values of function output as they are written into an item: as the function wrote them, or in the style of the item.

use std::collections::BTreeSet;

use krm_yaml::{
    DocumentCopy, Edit, EditError, File, NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType, Value,
};

use crate::compare::{
    CommentIndex, CommentedEntry, Field, Fields, ResourceLevel, is_ignorable_addition,
};
use crate::print::source_text;

/// The value of a scalar, without its style.
pub(super) fn scalar_value(scalar: Scalar<'_>) -> Value<'_> {
    match scalar.resolve() {
        ScalarType::Null => Value::Null,
        ScalarType::Bool(value) => Value::Bool(value),
        ScalarType::Int(_) | ScalarType::Float(_) => Value::Number(scalar.value()),
        ScalarType::String => Value::String(scalar.value()),
    }
}

/// A key to be inserted. A plain key that YAML 1.1 readers take for something else stays as it is written.
pub(super) fn key_value(key: NodeRef<'_>) -> Value<'_> {
    let key = key.resolve();
    let plain = |it: &Scalar<'_>| it.style() == ScalarStyle::Plain && key.anchor().is_none();
    match key.as_scalar() {
        Some(it) if plain(&it) && it.resolve() == it.resolve_1_1() => scalar_value(it),
        Some(it) if !plain(&it) => scalar_value(it),
        _ => Value::Node(key),
    }
}

/// Comments that remain in the item, and so are not inserted again. Functions that keep comments return them in other places.
pub(super) type ExistingComments<'a> = BTreeSet<&'a str>;

/// The value of an inserted entry, with its comments where they are new.
pub(super) fn entry_value<'a>(
    entry: CommentedEntry<'a>,
    level: ResourceLevel,
    theirs: &CommentIndex<'a>,
    existing: &ExistingComments<'_>,
) -> Result<Value<'a>, EditError> {
    let comments: Vec<&str> = theirs.above(entry).chain(theirs.beside(entry)).collect();
    let is_existing = comments.iter().any(|comment| existing.contains(comment));
    let value = node_value(entry.value, level, existing)?;
    let is_as_written = matches!(value, Value::Node(_));
    let is_scalar = entry.value.as_scalar().is_some();
    Ok(match entry.value.kind() {
        // A node is inserted with the comments around it, a copy is not.
        _ if is_existing && is_as_written && !is_scalar => copy(entry.value, existing)?,
        NodeKind::Scalar(_) if !comments.is_empty() && !is_existing => Value::Node(entry.value),
        _ => value,
    })
}

/// A value without the annotations of the orchestrator. A node in block style is inserted as it is written, without comments that
/// exist in the item; flow style (usually JSON) and nodes with anchors or aliases are written in the style of the item.
pub(super) fn node_value<'a>(
    node: NodeRef<'a>,
    level: ResourceLevel,
    existing: &ExistingComments<'_>,
) -> Result<Value<'a>, EditError> {
    let node = node.resolve();
    if let Some(it) = node.as_scalar() {
        let is_as_written = it.style().is_block() || node.tag().is_some();
        return Ok(if is_as_written { Value::Node(node) } else { scalar_value(it) });
    }
    if level != ResourceLevel::Other && node.kind() == NodeKind::Mapping {
        let fields = Fields::of(node, true);
        let own = fields.iter().filter(|(name, field)| !is_ignorable_addition(name, *field, level));
        let entry = |(name, field): (&str, Field<'a>)| {
            Ok((key_value(field.key), node_value(field.value, level.child(name), existing)?))
        };
        return own.map(entry).collect::<Result<_, _>>().map(Value::Mapping);
    }
    let has_reference = |it: NodeRef<'_>| it.kind() == NodeKind::Alias || it.anchor().is_some();
    if !node.is_block() || node.descendants().any(has_reference) {
        return node.to_value().map_err(|error| EditError::new(node.span(), error));
    }
    let comments = || node.document().comments();
    let has_existing = || {
        let inside = comments().into_iter().filter(|it| node.span().contains(it.span));
        inside.into_iter().any(|it| existing.contains(it.text.trim_end()))
    };
    let may_have_comments = node.text().contains('#') && !existing.is_empty();
    if may_have_comments && has_existing() { copy(node, existing) } else { Ok(Value::Node(node)) }
}

/// A copy of a node without the comments that exist in the item.
fn copy<'a>(node: NodeRef<'a>, existing: &ExistingComments<'_>) -> Result<Value<'a>, EditError> {
    let refused = |error: krm_yaml::ReadError| EditError::new(node.span(), error);
    let lines = source_text::text(node);
    let lines =
        lines.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("  {line}\n") });
    let copy = File::parse(format!("x:\n{}", lines.collect::<String>())).map_err(refused)?;
    let Some(document) = copy.document(0) else { return Ok(Value::Node(node)) };
    let mut edit = Edit::new(&copy);
    let comments = document.comments();
    for comment in comments.iter().filter(|it| existing.contains(it.text.trim_end())) {
        edit.replace_comment(0, comment, None);
    }
    let clean = File::parse(edit.apply()?).map_err(refused)?;
    let document = clean.document(0).filter(|it| it.error().is_none());
    let value = document.and_then(|it| it.root()?.as_mapping()?.get("x"));
    let Some(value) = value else { return Ok(Value::Node(node)) };
    Ok(Value::OwnedNode(DocumentCopy::new(value.document(), &[], &[])?.owned_node(value)))
}
