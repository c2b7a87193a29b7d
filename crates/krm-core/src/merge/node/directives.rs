//! Directives of strategic merge patches: read, honoured, and never written.

use krm_yaml::{NodeKind, NodeRef};

use super::fields::key_name;
use super::work::Work;
use crate::Diagnostic;

/// What `$patch` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patch {
    Delete,
    Replace,
    Merge,
}

/// The directives of a mapping.
#[derive(Debug, Default)]
pub(super) struct MappingDirectives<'a> {
    pub(super) patch: Option<Patch>,
    /// The fields that may stay.
    pub(super) retain: Option<Vec<String>>,
    /// Values that go from the list of a field.
    pub(super) delete_from: Vec<(String, NodeRef<'a>)>,
    /// The order that the list of a field gets.
    pub(super) order: Vec<(String, NodeRef<'a>)>,
    /// The values of the entries that are directives.
    pub(super) entries: Vec<NodeRef<'a>>,
}

/// The directives of a list: elements that are nothing else.
#[derive(Debug, Default)]
pub(super) struct ListDirectives<'a> {
    pub(super) patch: Option<Patch>,
    pub(super) elements: Vec<NodeRef<'a>>,
}

/// Keys of JSON Schema, which are data wherever they stand.
const DATA: [&str; 10] = [
    "$ref",
    "$schema",
    "$id",
    "$defs",
    "$anchor",
    "$comment",
    "$vocabulary",
    "$dynamicRef",
    "$dynamicAnchor",
    "$openapi",
];

/// The directives of a mapping of the source. A `$` key that the destination has, too, is data.
pub(super) fn of_mapping<'a>(
    work: &Work<'a, '_>,
    node: NodeRef<'a>,
    destination: Option<NodeRef<'a>>,
) -> Result<MappingDirectives<'a>, Diagnostic> {
    let mut found = MappingDirectives::default();
    for entry in node.as_mapping().into_iter().flat_map(|mapping| mapping.entries()) {
        if !entry.key.text().trim_start_matches(['"', '\'']).starts_with('$') {
            continue;
        }
        let name = key_name(entry.key);
        let value = entry.value.resolve();
        if let Some(field) = name.strip_prefix("$deleteFromPrimitiveList/") {
            found.delete_from.push((field.to_owned(), list(work, entry.key, value)?));
        } else if let Some(field) = name.strip_prefix("$setElementOrder/") {
            found.order.push((field.to_owned(), list(work, entry.key, value)?));
        } else if name == "$retainKeys" {
            let list = list(work, entry.key, value)?;
            found.retain = Some(list.children().map(|key| key_name(key).into_owned()).collect());
        } else if name == "$patch" {
            found.patch = Some(patch(work, value)?);
        } else if is_data(&name, destination) {
            continue;
        } else {
            return Err(unknown(work, entry.key, &name));
        }
        found.entries.push(entry.value);
    }
    Ok(found)
}

fn is_data(name: &str, destination: Option<NodeRef<'_>>) -> bool {
    let there = destination.and_then(NodeRef::as_mapping);
    DATA.contains(&name) || there.is_some_and(|mapping| mapping.get(name).is_some())
}

fn unknown<'a>(work: &Work<'a, '_>, key: NodeRef<'a>, name: &str) -> Diagnostic {
    let known = "$patch, $retainKeys, $deleteFromPrimitiveList/FIELD and $setElementOrder/FIELD";
    work.error(key, format!("`{name}` is no directive of a merge"))
        .hint(format!("there are {known}"))
}

fn patch<'a>(work: &Work<'a, '_>, value: NodeRef<'a>) -> Result<Patch, Diagnostic> {
    match value.as_str().as_deref() {
        Some("delete") => Ok(Patch::Delete),
        Some("replace") => Ok(Patch::Replace),
        Some("merge") => Ok(Patch::Merge),
        _ => {
            let message = format!("`$patch: {}` is no way to merge", value.text());
            Err(work.error(value, message).hint("there are delete, replace and merge"))
        }
    }
}

fn list<'a>(
    work: &Work<'a, '_>,
    key: NodeRef<'a>,
    value: NodeRef<'a>,
) -> Result<NodeRef<'a>, Diagnostic> {
    match value.kind() {
        NodeKind::Sequence => Ok(value),
        _ => Err(work.error(key, format!("`{}` wants a list", key_name(key)))),
    }
}

/// The directives among the elements of a list of the source.
pub(super) fn of_list<'a>(
    work: &Work<'a, '_>,
    node: NodeRef<'a>,
) -> Result<ListDirectives<'a>, Diagnostic> {
    let mut found = ListDirectives::default();
    for item in node.children() {
        let only = item.as_mapping().filter(|_| item.children().count() == 2);
        let Some(value) = only.and_then(|mapping| mapping.get("$patch")) else { continue };
        found.patch = Some(patch(work, value.resolve())?);
        found.elements.push(item);
    }
    Ok(found)
}

/// An element of a list that is taken whole: nothing can be deleted from such a list by name.
pub(super) fn of_whole_item<'a>(
    work: &Work<'a, '_>,
    item: NodeRef<'a>,
    without: &mut Vec<NodeRef<'a>>,
) -> Result<bool, Diagnostic> {
    if item.kind() != NodeKind::Mapping {
        return Ok(true);
    }
    let found = of_mapping(work, item, None)?;
    if found.patch == Some(Patch::Delete) {
        let message = "an element of this list cannot be deleted by name: the list is taken whole";
        let hint = "name its key with --list-key, or write the whole list";
        return Err(work.error(item, message).hint(hint));
    }
    without.extend(found.entries);
    Ok(true)
}
