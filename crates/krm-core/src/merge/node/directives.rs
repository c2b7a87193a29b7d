//! Directives of strategic merge patches. They are applied and never written.

use krm_yaml::{NodeKind, NodeRef};

use super::state::MergeState;
use crate::Diagnostic;
use crate::compare::key_name;
use crate::diagnostics::CommonKind;
use crate::merge::kinds::MergeKind;

/// The value of `$patch`.
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
    /// The fields that `$retainKeys` retains.
    pub(super) retain: Option<Vec<String>>,
    /// `$deleteFromPrimitiveList`: values that are removed from the list of a field.
    pub(super) delete_from: Vec<(String, NodeRef<'a>)>,
    /// `$setElementOrder`: the order of the list of a field.
    pub(super) order: Vec<(String, NodeRef<'a>)>,
    /// The values of all entries that are directives.
    pub(super) entries: Vec<NodeRef<'a>>,
}

/// The directives of a list: elements that have no other field.
#[derive(Debug, Default)]
pub(super) struct ListDirectives<'a> {
    pub(super) patch: Option<Patch>,
    pub(super) elements: Vec<NodeRef<'a>>,
}

/// Keys of JSON Schema, which begin with `$` and are not directives.
const SCHEMA_KEYS: [&str; 10] = [
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

/// The directives of a mapping of the source. A key with `$` that the destination has as well is an ordinary field.
pub(super) fn of_mapping<'a>(
    state: &MergeState<'a, '_>,
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
            found.delete_from.push((field.to_owned(), sequence(state, entry.key, value)?));
        } else if let Some(field) = name.strip_prefix("$setElementOrder/") {
            found.order.push((field.to_owned(), sequence(state, entry.key, value)?));
        } else if name == "$retainKeys" {
            let keys = sequence(state, entry.key, value)?;
            found.retain = Some(keys.children().map(|key| key_name(key).into_owned()).collect());
        } else if name == "$patch" {
            found.patch = Some(patch(state, value)?);
        } else if is_ordinary_key(&name, destination) {
            continue;
        } else {
            let kind = MergeKind::UnknownDirective { directive: name.into_owned() };
            return Err(state.error(entry.key, kind));
        }
        found.entries.push(entry.value);
    }
    Ok(found)
}

fn is_ordinary_key(name: &str, destination: Option<NodeRef<'_>>) -> bool {
    let there = destination.and_then(NodeRef::as_mapping);
    SCHEMA_KEYS.contains(&name) || there.is_some_and(|mapping| mapping.get(name).is_some())
}

fn patch<'a>(state: &MergeState<'a, '_>, value: NodeRef<'a>) -> Result<Patch, Diagnostic> {
    match value.as_str().as_deref() {
        Some("delete") => Ok(Patch::Delete),
        Some("replace") => Ok(Patch::Replace),
        Some("merge") => Ok(Patch::Merge),
        _ => {
            let expected = "`delete`, `replace` or `merge`".to_owned();
            let value_text = value.text().into();
            Err(state.error(value, CommonKind::InvalidValue { value: value_text, expected }))
        }
    }
}

fn sequence<'a>(
    state: &MergeState<'a, '_>,
    key: NodeRef<'a>,
    value: NodeRef<'a>,
) -> Result<NodeRef<'a>, Diagnostic> {
    match value.kind() {
        NodeKind::Sequence => Ok(value),
        _ => {
            let expected = format!("a sequence for `{}`", key_name(key));
            Err(state.error(key, CommonKind::wrong_type(expected, value)))
        }
    }
}

/// The directives among the elements of a list of the source.
pub(super) fn of_list<'a>(
    state: &MergeState<'a, '_>,
    node: NodeRef<'a>,
) -> Result<ListDirectives<'a>, Diagnostic> {
    let mut found = ListDirectives::default();
    for item in node.children() {
        let only = item.as_mapping().filter(|_| item.children().count() == 2);
        let Some(value) = only.and_then(|mapping| mapping.get("$patch")) else { continue };
        found.patch = Some(patch(state, value.resolve())?);
        found.elements.push(item);
    }
    Ok(found)
}

/// Collects the directives of an element of an atomic list. Its elements have no identity, so none can be deleted.
pub(super) fn of_atomic_list_element<'a>(
    state: &MergeState<'a, '_>,
    item: NodeRef<'a>,
    excluded: &mut Vec<NodeRef<'a>>,
) -> Result<bool, Diagnostic> {
    if item.kind() != NodeKind::Mapping {
        return Ok(true);
    }
    let found = of_mapping(state, item, None)?;
    if found.patch == Some(Patch::Delete) {
        return Err(state.error(item, MergeKind::DeleteFromAtomicList));
    }
    excluded.extend(found.entries);
    Ok(true)
}
