//! Nodes that are taken from the other side as a whole, without directives and without nulls that clear a field.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_yaml::{CommentPosition, DocumentCopy, Edit, File, NodeKind, NodeRef, OwnedNode, Value};

use super::directives::{self, Patch};
use super::ops::IncomingNode;
use super::state::MergeState;
use super::{anchors, is_null, key_segment};
use crate::Diagnostic;
use crate::compare::sequences::{ListType, list_type};
use crate::compare::{CommentedEntry, Field, FieldSchema, Fields, MapStrategy, key_name};

/// A node of the source that the destination does not have; `None` where directives or nulls leave nothing.
pub(super) fn from_source<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    destination: NodeRef<'a>,
) -> Result<Option<IncomingNode<'a>>, Diagnostic> {
    let mut excluded = Vec::new();
    if !has_value(state, source.resolve(), schema, &mut excluded)? {
        return Ok(None);
    }
    excluding(state, source, excluded, destination).map(Some)
}

/// The directives and nulls of a document that is inserted; `None` where it deletes itself.
pub(super) fn omitted_nodes<'a>(
    state: &mut MergeState<'a, '_>,
    root: NodeRef<'a>,
) -> Result<Option<Vec<NodeRef<'a>>>, Diagnostic> {
    let mut excluded = Vec::new();
    let schema = state.schema.clone();
    // An empty document is kept, because documents without a name are identified by their position.
    let is_some = has_value(state, root, &schema, &mut excluded)? || is_null(root);
    Ok(is_some.then_some(excluded))
}

/// A node as it is written, without some of its entries.
pub(super) fn excluding<'a>(
    state: &MergeState<'a, '_>,
    node: NodeRef<'a>,
    excluded: Vec<NodeRef<'a>>,
    destination: NodeRef<'a>,
) -> Result<IncomingNode<'a>, Diagnostic> {
    let is_alias = node.kind() == NodeKind::Alias;
    if is_alias || anchors::needs_expansion(node, &state.info(node), &state.info(destination)) {
        let value = anchors::expand(node, &excluded, &state.expanded);
        return value.map(IncomingNode::Value).map_err(|error| error.in_file(state.file_of(node)));
    }
    Ok(IncomingNode::Part { node, excluded, comment: None })
}

/// An incoming entry. Where aliases were expanded, its comments are added again, since an expanded value has none.
pub(super) fn with_comments<'a>(
    state: &MergeState<'a, '_>,
    field: Field<'a>,
    new: IncomingNode<'a>,
) -> IncomingNode<'a> {
    let IncomingNode::Value(value) = new else { return new };
    let info = state.info(field.value);
    let entry = CommentedEntry { key: Some(field.key), value: field.value };
    let [above, beside] = [info.above(entry), info.beside(entry).map(str::to_owned)];
    let has_some = above.is_some() || beside.is_some();
    let graft = has_some.then(|| commented(&value, above, beside)).flatten();
    IncomingNode::Value(graft.map_or(value, Value::OwnedNode))
}

/// A value with comments above and beside it, as an entry of a document of its own.
fn commented(
    value: &Value<'_>,
    above: Option<String>,
    beside: Option<String>,
) -> Option<OwnedNode> {
    fn entry(file: &File) -> Option<NodeRef<'_>> {
        file.document(0)?.root()?.as_mapping()?.get("entry")
    }
    let file = File::parse("first:\nentry:\n".to_owned()).ok()?;
    let mut edit = Edit::new(&file);
    edit.overwrite(entry(&file)?, value.clone()).ok()?;
    for (place, text) in [(CommentPosition::Head, above), (CommentPosition::Line, beside)] {
        let Some(text) = text else { continue };
        edit.set_comment(entry(&file)?, place, Some(&text)).ok()?;
    }
    let file = File::parse(edit.apply().ok()?).ok()?;
    let pruned = DocumentCopy::new(file.document(0)?, &[], &[]).ok()?;
    Some(pruned.owned_node(entry(&file)?))
}

/// A node of upstream that local does not have, without some entries and without nulls that clear a field.
pub(super) fn from_upstream<'a>(
    state: &mut MergeState<'a, '_>,
    upstream: NodeRef<'a>,
    mut excluded: Vec<NodeRef<'a>>,
    schema: &FieldSchema<'_>,
    destination: NodeRef<'a>,
) -> Result<IncomingNode<'a>, Diagnostic> {
    excluded.extend(cleared_fields(state, upstream.resolve(), schema));
    excluding(state, upstream, excluded, destination)
}

/// The null fields in a node, which are not inserted where null clears a field. A mapping that has no other fields becomes `{}`.
fn cleared_fields<'a>(
    state: &mut MergeState<'a, '_>,
    node: NodeRef<'a>,
    schema: &FieldSchema<'_>,
) -> Vec<NodeRef<'a>> {
    let mut found = Vec::new();
    if node.is_collection() && node.descendants().any(|node| state.clears(node)) {
        collect_nulls(state, node, schema, &mut found);
    }
    found
}

fn collect_nulls<'a>(
    state: &mut MergeState<'a, '_>,
    node: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    found: &mut Vec<NodeRef<'a>>,
) {
    match node.kind() {
        NodeKind::Mapping if schema.mapping() != MapStrategy::Replace => {
            let schema = &schema.or_resource(&state.options.lists, node);
            let fields = Fields::of(node, false);
            for (name, field) in fields.iter() {
                if is_null(field.value) {
                    // The entries that the last of duplicate keys hides must not take effect without it.
                    found.extend(fields.all(name));
                    continue;
                }
                let schema = schema.field(name);
                state.descend(key_segment(name), |state| {
                    collect_nulls(state, field.value, &schema, found);
                });
            }
        }
        NodeKind::Sequence => {
            let elements: Vec<NodeRef<'a>> = node.children().collect();
            let path = state.field_path();
            let versions = std::slice::from_ref(&elements);
            let list_type = list_type(&state.options.lists, &path, schema, versions);
            if matches!(list_type, ListType::Map(_) | ListType::Resources) {
                let schema = schema.item();
                elements.into_iter().for_each(|item| collect_nulls(state, item, &schema, found));
            }
        }
        _ => {}
    }
}

/// Whether something is left of a node without directives and nulls, which are added to `excluded`.
fn has_value<'a>(
    state: &mut MergeState<'a, '_>,
    node: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    excluded: &mut Vec<NodeRef<'a>>,
) -> Result<bool, Diagnostic> {
    match node.kind() {
        NodeKind::Mapping => {
            let found = directives::of_mapping(state, node, None)?;
            if found.patch == Some(Patch::Delete) {
                return Ok(false);
            }
            let schema = &schema.or_resource(&state.options.lists, node);
            excluded.extend(&found.entries);
            let entries = node.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
            let mut names: BTreeMap<Cow<'a, str>, Vec<NodeRef<'a>>> = BTreeMap::new();
            for entry in entries.filter(|entry| !found.entries.contains(&entry.value)) {
                let name = key_name(entry.key);
                let schema = schema.field(&name);
                let keep = state.descend(key_segment(&name), |state| {
                    has_value(state, entry.value, &schema, excluded)
                })?;
                let before = names.entry(name).or_default();
                if keep {
                    before.push(entry.value);
                } else {
                    // The entries that the last of duplicate keys hides must not take effect without it.
                    excluded.append(before);
                    excluded.push(entry.value);
                }
            }
            Ok(true)
        }
        NodeKind::Sequence => {
            let found = directives::of_list(state, node)?;
            if found.patch == Some(Patch::Delete) {
                return Ok(false);
            }
            excluded.extend(&found.elements);
            let elements: Vec<NodeRef<'a>> =
                node.children().filter(|item| !found.elements.contains(item)).collect();
            let path = state.field_path();
            let versions = std::slice::from_ref(&elements);
            let found = list_type(&state.options.lists, &path, schema, versions);
            for item in elements {
                let keep = match matches!(found, ListType::Map(_)) {
                    true => has_value(state, item, &schema.item(), excluded)?,
                    false => directives::of_atomic_list_element(state, item, excluded)?,
                };
                if !keep && !is_null(item) {
                    excluded.push(item);
                }
            }
            Ok(true)
        }
        _ => Ok(!is_null(node)),
    }
}
