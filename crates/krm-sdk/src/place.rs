//! Annotations of the wire: taken off resources before a function sees them, and put on again when they go out.

use krm_core::functions::resource_list::Item;
use krm_core::functions::resource_list::annotations::{
    INDEX, INTERNAL, LEGACY_INDEX, LEGACY_PATH, PATH, is_wire_annotation,
};
use krm_core::{Diagnostic, PackagePath};
use krm_yaml::{Edit, EditError, EmptyParents, NodeRef, Path, ScalarType, Value};

use crate::Error;

/// An annotation: its name and its value.
pub(crate) type Annotation = (String, String);

/// The node of `metadata.annotations`, where it is a mapping of the resource's own.
fn annotations(root: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let metadata = root.as_mapping()?.get("metadata")?.as_mapping()?;
    metadata.get("annotations").filter(|node| node.as_mapping().is_some())
}

/// The annotations of the wire with their nodes.
fn of_the_wire(root: NodeRef<'_>) -> Vec<(Annotation, NodeRef<'_>)> {
    let mapping = annotations(root).and_then(NodeRef::as_mapping);
    let entries = mapping.into_iter().flat_map(|mapping| mapping.entries());
    let named = entries.filter_map(|entry| {
        let text = |node: NodeRef<'_>| node.resolve().as_scalar().map(|it| it.value().into_owned());
        Some(((text(entry.key)?, text(entry.value)?), entry.value))
    });
    named.filter(|((name, _), _)| is_wire_annotation(name)).collect()
}

/// Whether a text may have annotations of the wire at all.
fn may_have(text: &str) -> bool {
    text.contains("config.kubernetes.io/")
}

/// The item without some of its annotations.
fn without(item: &Item, gone: &[NodeRef<'_>]) -> Result<Item, Diagnostic> {
    let told = |error: EditError| Diagnostic::from_edit(&error, item.file());
    let mut edit = Edit::new(item.file());
    for node in gone {
        edit.remove(*node, EmptyParents::Remove).map_err(told)?;
    }
    item.with_text(edit.apply().map_err(told)?)
}

/// Takes off what an orchestrator put on; its place becomes the item's.
pub(crate) fn strip(item: Item) -> Result<(Item, Vec<Annotation>), Diagnostic> {
    if !may_have(item.text()) {
        return Ok((item, Vec::new()));
    }
    let (taken, nodes): (Vec<Annotation>, Vec<NodeRef<'_>>) =
        of_the_wire(item.root()).into_iter().unzip();
    if taken.is_empty() {
        return Ok((item, taken));
    }
    let mut bare = without(&item, &nodes)?;
    agree(&item, &taken)?;
    (bare.path, bare.index) = place(&taken);
    Ok((bare, taken))
}

/// Spec: the older names are the same thing, and say the same.
fn agree(item: &Item, taken: &[Annotation]) -> Result<(), Diagnostic> {
    for (name, legacy) in [(PATH, LEGACY_PATH), (INDEX, LEGACY_INDEX)] {
        if let (Some(new), Some(old)) = (value(taken, name), value(taken, legacy))
            && new != old
        {
            let message = format!("`{legacy}` is `{old}`, and `{name}` is `{new}`");
            return Err(Diagnostic::untyped_error(message).at(item.file(), item.root().span()));
        }
    }
    Ok(())
}

fn value<'t>(taken: &'t [Annotation], name: &str) -> Option<&'t str> {
    taken.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn place(taken: &[Annotation]) -> (Option<PackagePath>, Option<usize>) {
    let either = |name, legacy| value(taken, name).or_else(|| value(taken, legacy));
    let path = either(PATH, LEGACY_PATH).and_then(|path| PackagePath::new(path).ok());
    (path, either(INDEX, LEGACY_INDEX).and_then(|index| index.parse().ok()))
}

/// Puts annotations on an item: those that were taken off, with the place that it has now.
pub(crate) fn dress(item: &Item, taken: &[Annotation], is_same: bool) -> Result<Item, Diagnostic> {
    let annotations = if is_same && place(taken) == (item.path.clone(), item.index) {
        taken.to_vec()
    } else {
        moved(item, taken, is_same)
    };
    if annotations.is_empty() {
        return Ok(item.clone());
    }
    set(item, &annotations)
}

/// The annotations of an item that is new, or stands elsewhere.
fn moved(item: &Item, taken: &[Annotation], is_same: bool) -> Vec<Annotation> {
    let own = [PATH, INDEX, LEGACY_PATH, LEGACY_INDEX];
    let has_legacy = |name| is_same && value(taken, name).is_some();
    let others = taken.iter().filter(|(name, _)| is_same && !own.contains(&name.as_str()));
    let mut all: Vec<Annotation> = Vec::new();
    let path = item.path.as_ref().map(|path| path.as_str().to_owned());
    let index = item.index.map(|index| index.to_string());
    for (name, legacy, value) in [(PATH, LEGACY_PATH, path), (INDEX, LEGACY_INDEX, index)] {
        let Some(value) = value else { continue };
        all.push((name.to_owned(), value.clone()));
        if has_legacy(legacy) {
            all.push((legacy.to_owned(), value));
        }
    }
    all.extend(others.cloned());
    all
}

fn set(item: &Item, all: &[Annotation]) -> Result<Item, Diagnostic> {
    let mut edit = Edit::new(item.file());
    let document = item.root().document();
    let path: Path = "metadata.annotations".parse().expect("it is a path");
    let told = |error| Diagnostic::from_edit(&error, item.file());
    let is_there = document.find(&path).is_some_and(|node| {
        node.as_scalar().is_none_or(|scalar| scalar.resolve() != ScalarType::Null)
    });
    let text = |text: &str| Value::string(text.to_owned());
    if is_there {
        for (name, value) in all {
            edit.set_at(document, &path.join(name), text(value)).map_err(told)?;
        }
    } else {
        let entries = all.iter().map(|(name, value)| (text(name), text(value)));
        edit.set_at(document, &path, Value::Mapping(entries.collect())).map_err(told)?;
    }
    let new = edit.apply().map_err(|error| Diagnostic::from_edit(&error, item.file()))?;
    item.with_text(new)
}

/// What a function changed, with its annotations of the wire understood: path and index are the item's new place, and
/// others are not a function's to set.
pub(crate) fn settle(before: Option<&Item>, after: Item) -> Result<Item, Error> {
    if !may_have(after.text()) {
        return Ok(after);
    }
    let known: Vec<Annotation> = before.map(known).unwrap_or_default();
    let new = of_the_wire(after.root());
    let new: Vec<_> = new.into_iter().filter(|(it, _)| !known.contains(it)).collect();
    if let Some(((name, _), node)) = new.iter().find(|((name, _), _)| is_foreign(name)) {
        let message = format!("`{name}` is the orchestrator's own, and not a function's to set");
        let told = Diagnostic::untyped_error(message).at(after.file(), node.span());
        return Err(told
            .hint(format!("of `{INTERNAL}…` only `path` and `index` may change"))
            .into());
    }
    if new.is_empty() {
        return Ok(after);
    }
    let (taken, nodes): (Vec<Annotation>, Vec<NodeRef<'_>>) = new.into_iter().unzip();
    let mut bare = without(&after, &nodes)?;
    agree(&after, &taken)?;
    for name in [PATH, LEGACY_PATH] {
        if let Some(path) = value(&taken, name) {
            let path = PackagePath::new(path).map_err(|error| Error::new(error.to_string()))?;
            bare.index = bare.index.filter(|_| bare.path.as_ref() == Some(&path));
            bare.path = Some(path);
        }
    }
    if let (_, Some(index)) = place(&taken) {
        bare.index = Some(index);
    }
    Ok(bare)
}

fn known(item: &Item) -> Vec<Annotation> {
    if !may_have(item.text()) {
        return Vec::new();
    }
    of_the_wire(item.root()).into_iter().map(|(annotation, _)| annotation).collect()
}

fn is_foreign(name: &str) -> bool {
    name.starts_with(INTERNAL) && ![PATH, INDEX].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resource;

    fn sent(annotations: &str) -> Item {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # it\n  annotations:\n{annotations}"
        );
        Item::parse(text).unwrap()
    }

    #[test]
    fn what_is_taken_off_is_put_on_again() {
        let text = "    internal.config.kubernetes.io/path: 'a.yaml'\n    internal.config.kubernetes.io/index: '2'\n    internal.config.kubernetes.io/krm-id: '7'\n    config.kubernetes.io/path: 'a.yaml'\n";
        let (item, taken) = strip(sent(text)).unwrap();
        assert_eq!(item.text(), "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # it\n");
        assert_eq!(
            (item.path.as_ref().map(PackagePath::as_str), item.index),
            (Some("a.yaml"), Some(2))
        );
        let back = dress(&item, &taken, true).unwrap();
        assert_eq!(
            back.text(),
            sent(&text.replace("'a.yaml'", "a.yaml").replace('\'', "\"")).text()
        );
        let new = dress(&item, &taken, false).unwrap();
        assert!(!new.text().contains("krm-id") && !new.text().contains(" config.kubernetes.io"));
    }

    #[test]
    fn a_move_is_said_in_every_name_that_was_there() {
        let (mut item, taken) = strip(sent(
            "    x: y\n    config.kubernetes.io/path: a.yaml\n    internal.config.kubernetes.io/id: '1'\n",
        ))
        .unwrap();
        item.path = Some(PackagePath::new("b.yaml").unwrap());
        let text = dress(&item, &taken, true).unwrap().text().to_owned();
        assert!(text.ends_with("    x: y\n    internal.config.kubernetes.io/path: b.yaml\n    config.kubernetes.io/path: b.yaml\n    internal.config.kubernetes.io/id: \"1\"\n"), "{text}");
    }

    #[test]
    fn names_that_disagree_are_refused() {
        let text = "    internal.config.kubernetes.io/path: a\n    config.kubernetes.io/path: b\n";
        let message = strip(sent(text)).unwrap_err().message().to_owned();
        assert_eq!(
            message,
            "`config.kubernetes.io/path` is `b`, and `internal.config.kubernetes.io/path` is `a`"
        );
    }

    #[test]
    fn a_function_moves_by_annotation_and_touches_no_other() {
        let mut pod = Resource::parse("apiVersion: v1\nkind: Pod\n").unwrap();
        pod.set(r#"metadata.annotations."internal.config.kubernetes.io/path""#, "b.yaml").unwrap();
        assert_eq!(pod.path().map(PackagePath::as_str), Some("b.yaml"));
        assert_eq!(pod.text(), "apiVersion: v1\nkind: Pod\n");
        for name in ["internal.config.kubernetes.io/krm-id", "internal.config.kubernetes.io/x"] {
            let error = pod.set_annotation(name, "1").unwrap_err().to_string();
            assert_eq!(
                error,
                format!("`{name}` is the orchestrator's own, and not a function's to set")
            );
        }
        let error = pod.set_annotation("config.kubernetes.io/path", "../x").unwrap_err();
        assert_eq!(error.to_string(), "`../x` leaves the package with `..`");
        assert!(Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {annotations: {internal.config.kubernetes.io/x: y}}\n").is_err());
    }
}
