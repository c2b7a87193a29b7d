//! Changing a resource to equal another one with minimal edits: common fields keep their bytes.

use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::{Edit, EditError, EmptyParents, KeyPosition, NodeRef, Value};

/// Changes a resource to equal another one.
pub(crate) fn align(resource: &mut Resource, new: &Resource) -> Result<(), Error> {
    let before = resource.clone();
    let file = before.item().file();
    let mut edit = Edit::new(file);
    let diagnostic = |error: EditError| Diagnostic::from_edit(&error, file);
    node(&mut edit, before.root(), new.root()).map_err(diagnostic)?;
    if edit.is_empty() {
        return Ok(());
    }
    resource.replace(edit.apply().map_err(diagnostic)?)
}

/// Recursion is bounded by the nesting limit of the parser.
fn node<'a>(edit: &mut Edit<'a>, old: NodeRef<'a>, new: NodeRef<'a>) -> Result<(), EditError> {
    let is_plain = old.as_mapping().is_none_or(|old| old.get("<<").is_none());
    let new = new.resolve();
    match (old.as_mapping(), new.as_mapping(), old.as_sequence(), new.as_sequence()) {
        (Some(_), Some(_), ..)
            if is_plain && new.as_mapping().is_some_and(|it| it.get("<<").is_none()) =>
        {
            mapping(edit, old, new)
        }
        (_, _, Some(_), Some(_)) => sequence(edit, old, new),
        _ => edit.set(old, value(new)),
    }
}

fn mapping<'a>(edit: &mut Edit<'a>, old: NodeRef<'a>, new: NodeRef<'a>) -> Result<(), EditError> {
    let (Some(old_map), Some(new_map)) = (old.as_mapping(), new.as_mapping()) else {
        return Ok(());
    };
    for entry in old_map.entries() {
        let name = entry.key.as_scalar().map(|key| key.value());
        if name.is_none_or(|name| new_map.get(&name).is_none()) {
            edit.remove(entry.key, EmptyParents::Keep)?;
        }
    }
    for entry in new_map.entries() {
        let Some(name) = entry.key.as_scalar().map(|key| key.value()) else { continue };
        match old_map.get(&name) {
            Some(old) => node(edit, old, entry.value)?,
            None => edit.insert_key(old, &name, value(entry.value), KeyPosition::Last)?,
        }
    }
    Ok(())
}

fn sequence<'a>(edit: &mut Edit<'a>, old: NodeRef<'a>, new: NodeRef<'a>) -> Result<(), EditError> {
    let (old_items, new_items): (Vec<_>, Vec<_>) =
        (old.children().collect(), new.children().collect());
    for (old, new) in old_items.iter().zip(&new_items) {
        node(edit, *old, *new)?;
    }
    for removed in old_items.iter().skip(new_items.len()) {
        edit.remove(*removed, EmptyParents::Keep)?;
    }
    for added in new_items.iter().skip(old_items.len()) {
        edit.append(old, value(*added))?;
    }
    Ok(())
}

/// The new value: a collection keeps its comments, and a scalar is written in the style of the one that it replaces.
fn value(node: NodeRef<'_>) -> Value<'_> {
    let node = node.resolve();
    match node.as_scalar() {
        Some(_) => node.to_value().unwrap_or(Value::Node(node)),
        None => Value::Node(node),
    }
}
