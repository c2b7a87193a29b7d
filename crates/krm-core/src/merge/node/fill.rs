//! What comes whole from the other side, without what is no value: nulls that clear, and directives.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_yaml::{CommentPosition, DocumentCopy, Edit, File, NodeKind, NodeRef, OwnedNode, Value};

use super::directives::{self, Patch};
use super::fields::{Field, Fields};
use super::ops::Fill;
use super::remarks::key_step;
use super::same::is_null;
use super::shape::{ListKind, MapKind, Shape};
use super::work::Work;
use super::{anchors, lists};
use crate::Diagnostic;

/// A node of the source that has no counterpart; none where it says that there should be nothing.
pub(super) fn of_source<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    shape: &Shape<'_>,
    destination: NodeRef<'a>,
) -> Result<Option<Fill<'a>>, Diagnostic> {
    let mut without = Vec::new();
    if !is_value(work, source.resolve(), shape, &mut without)? {
        return Ok(None);
    }
    part(work, source, without, destination).map(Some)
}

/// What is no value in a whole document; none where all of it is none.
pub(super) fn left_out<'a>(
    work: &mut Work<'a, '_>,
    root: NodeRef<'a>,
) -> Result<Option<Vec<NodeRef<'a>>>, Diagnostic> {
    let mut without = Vec::new();
    let shape = work.shape.clone();
    // A document of nothing is one, too: others are counted from it.
    let is_some = is_value(work, root, &shape, &mut without)? || is_null(root);
    Ok(is_some.then_some(without))
}

/// A node as it stands, without some of its entries.
pub(super) fn part<'a>(
    work: &Work<'a, '_>,
    node: NodeRef<'a>,
    without: Vec<NodeRef<'a>>,
    destination: NodeRef<'a>,
) -> Result<Fill<'a>, Diagnostic> {
    let is_alias = node.kind() == NodeKind::Alias;
    if is_alias || anchors::is_bound(node, &work.ground(node), &work.ground(destination)) {
        let value = anchors::written_out(node, &without);
        return value.map(Fill::Value).map_err(|error| error.in_file(work.file_of(node)));
    }
    Ok(Fill::Part { node, without, note: None })
}

/// What comes for an entry; where it had to be written out, with the comments of the entry.
pub(super) fn with_comments<'a>(work: &Work<'a, '_>, field: Field<'a>, fill: Fill<'a>) -> Fill<'a> {
    let Fill::Value(value) = fill else { return fill };
    let ground = work.ground(field.value);
    let [above, beside] = [
        ground.above(Some(field.key), field.value),
        ground.beside(Some(field.key), field.value).map(str::to_owned),
    ];
    let has_some = above.is_some() || beside.is_some();
    let graft = has_some.then(|| commented(&value, above, beside)).flatten();
    Fill::Value(graft.map_or(value, Value::OwnedNode))
}

/// A value as an entry of a text of its own, with comments above and beside it.
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

/// A node of upstream as it comes: without what else is left out, and without nulls; none where that leaves nothing.
pub(super) fn of_upstream<'a>(
    work: &mut Work<'a, '_>,
    upstream: NodeRef<'a>,
    mut without: Vec<NodeRef<'a>>,
    shape: &Shape<'_>,
    destination: NodeRef<'a>,
) -> Result<Option<Fill<'a>>, Diagnostic> {
    let (nulls, is_some) = nulls(work, upstream.resolve(), shape);
    without.extend(nulls);
    if !is_some {
        return Ok(None);
    }
    part(work, upstream, without, destination).map(Some)
}

/// The fields that are null, which the same merge again would clear; and whether something is left without them.
pub(super) fn nulls<'a>(
    work: &mut Work<'a, '_>,
    node: NodeRef<'a>,
    shape: &Shape<'_>,
) -> (Vec<NodeRef<'a>>, bool) {
    let mut found = Vec::new();
    let has_null = node.is_collection() && node.descendants().any(is_null);
    let is_some = !has_null || gather_nulls(work, node, shape, &mut found);
    (found, is_some)
}

fn gather_nulls<'a>(
    work: &mut Work<'a, '_>,
    node: NodeRef<'a>,
    shape: &Shape<'_>,
    found: &mut Vec<NodeRef<'a>>,
) -> bool {
    match node.kind() {
        NodeKind::Mapping if shape.mapping() != MapKind::Whole => {
            let shape = &shape.or_resource(work.rules, node);
            let fields = Fields::of(node, false);
            let mut left = fields.len();
            for (name, field) in fields.iter() {
                let shape = shape.field(name);
                let is_some = !is_null(field.value)
                    && work.below(key_step(name), |work| {
                        gather_nulls(work, field.value, &shape, found)
                    });
                if !is_some {
                    // What the last of duplicate keys hides does not come alive without it.
                    found.extend(fields.all(name));
                    left -= 1;
                }
            }
            left > 0 || fields.is_empty()
        }
        NodeKind::Sequence => {
            let elements: Vec<NodeRef<'a>> = node.children().collect();
            let path = work.field_path();
            let kind = lists::kind_of(work.rules, &path, shape, std::slice::from_ref(&elements));
            if matches!(kind.kind, ListKind::Keyed(_) | ListKind::Resources) {
                let shape = shape.item();
                for item in elements {
                    gather_nulls(work, item, &shape, found);
                }
            }
            true
        }
        _ => true,
    }
}

/// Whether something is left of a node once directives and nulls are taken out.
fn is_value<'a>(
    work: &mut Work<'a, '_>,
    node: NodeRef<'a>,
    shape: &Shape<'_>,
    without: &mut Vec<NodeRef<'a>>,
) -> Result<bool, Diagnostic> {
    match node.kind() {
        NodeKind::Mapping => {
            let found = directives::of_mapping(work, node, None)?;
            if found.patch == Some(Patch::Delete) {
                return Ok(false);
            }
            let shape = &shape.or_resource(work.rules, node);
            without.extend(&found.entries);
            let entries = node.as_mapping().into_iter().flat_map(|mapping| mapping.entries());
            let mut names: BTreeMap<Cow<'a, str>, Vec<NodeRef<'a>>> = BTreeMap::new();
            for entry in entries.filter(|entry| !found.entries.contains(&entry.value)) {
                let name = super::fields::key_name(entry.key);
                let shape = shape.field(&name);
                let step = krm_yaml::Segment::Key(name.clone().into_owned());
                let keep = work.below(step, |work| is_value(work, entry.value, &shape, without))?;
                let before = names.entry(name).or_default();
                if keep {
                    before.push(entry.value);
                } else {
                    // Of duplicate keys the last counts, and what it hides does not come alive without it.
                    without.append(before);
                    without.push(entry.value);
                }
            }
            Ok(true)
        }
        NodeKind::Sequence => {
            let found = directives::of_list(work, node)?;
            if found.patch == Some(Patch::Delete) {
                return Ok(false);
            }
            without.extend(&found.elements);
            let elements: Vec<NodeRef<'a>> =
                node.children().filter(|item| !found.elements.contains(item)).collect();
            let path = work.field_path();
            let kind =
                lists::kind_of(work.rules, &path, shape, std::slice::from_ref(&elements)).kind;
            for item in elements {
                let keyed = matches!(kind, ListKind::Keyed(_));
                let keep = match keyed {
                    true => is_value(work, item, &shape.item(), without)?,
                    false => directives::of_whole_item(work, item, without)?,
                };
                if !keep && !is_null(item) {
                    without.push(item);
                }
            }
            Ok(true)
        }
        _ => Ok(!is_null(node)),
    }
}
