//! The annotations that an orchestrator adds for transport: removed before a function sees a resource, and restored in
//! the output.

use krm_core::functions::resource_list::annotations::{
    INDEX, INTERNAL, LEGACY_INDEX, LEGACY_PATH, PATH, is_wire_annotation,
};
use krm_core::functions::resource_list::{Item, ResourceListKind, returned_path};
use krm_core::{Diagnostic, PackagePath};
use krm_yaml::{Edit, EditError, EmptyParents, NodeRef, Path, ScalarType, Value};

use crate::Error;
use crate::kinds::StreamKind;
use crate::resource::package_path;

/// The name and value of an annotation.
pub(crate) type Annotation = (String, String);

/// `metadata.annotations`, if it is a mapping.
fn annotations(root: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let metadata = root.as_mapping()?.get("metadata")?.as_mapping()?;
    metadata.get("annotations").filter(|node| node.as_mapping().is_some())
}

/// The transport annotations with their nodes.
fn wire_annotations(root: NodeRef<'_>) -> Vec<(Annotation, NodeRef<'_>)> {
    let mapping = annotations(root).and_then(NodeRef::as_mapping);
    let entries = mapping.into_iter().flat_map(|mapping| mapping.entries());
    let named = entries.filter_map(|entry| {
        let string =
            |node: NodeRef<'_>| node.resolve().as_scalar().map(|it| it.value().into_owned());
        Some(((string(entry.key)?, string(entry.value)?), entry.value))
    });
    named.filter(|((name, _), _)| is_wire_annotation(name)).collect()
}

/// A cheap test that spares most resources the search.
fn may_contain_any(text: &str) -> bool {
    text.contains("config.kubernetes.io/")
}

/// The item without some of its annotations.
fn without(item: &Item, removed: &[NodeRef<'_>]) -> Result<Item, Diagnostic> {
    let diagnostic = |error: EditError| Diagnostic::from_edit(&error, item.file());
    let mut edit = Edit::new(item.file());
    for node in removed {
        edit.remove(*node, EmptyParents::Remove).map_err(diagnostic)?;
    }
    item.with_file(edit.apply_to_file().map_err(diagnostic)?)
}

/// Removes the transport annotations, and sets the path and index of the item from them.
pub(crate) fn strip(item: Item) -> Result<(Item, Vec<Annotation>), Diagnostic> {
    if !may_contain_any(item.text()) {
        return Ok((item, Vec::new()));
    }
    let (taken, nodes): (Vec<Annotation>, Vec<NodeRef<'_>>) =
        wire_annotations(item.root()).into_iter().unzip();
    if taken.is_empty() {
        return Ok((item, taken));
    }
    let mut bare = without(&item, &nodes)?;
    check_legacy_names(&item, &taken)?;
    (bare.path, bare.index) = path_and_index(&taken);
    Ok((bare, taken))
}

/// Spec: the legacy names mean the same as the new ones, so both must have the same value.
fn check_legacy_names(item: &Item, taken: &[Annotation]) -> Result<(), Diagnostic> {
    for (name, legacy) in [(PATH, LEGACY_PATH), (INDEX, LEGACY_INDEX)] {
        if let (Some(new), Some(old)) = (value(taken, name), value(taken, legacy))
            && new != old
        {
            let kind = ResourceListKind::ConflictingAnnotations {
                legacy: legacy.to_owned(),
                legacy_value: old.into(),
                name: name.to_owned(),
                value: new.into(),
            };
            return Err(Diagnostic::error(kind).at(item.file(), item.root().span()));
        }
    }
    Ok(())
}

fn value<'t>(taken: &'t [Annotation], name: &str) -> Option<&'t str> {
    taken.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// The path in the annotations.
pub(crate) fn path(taken: &[Annotation]) -> Option<&str> {
    value(taken, PATH).or_else(|| value(taken, LEGACY_PATH))
}

fn path_and_index(taken: &[Annotation]) -> (Option<PackagePath>, Option<usize>) {
    let either = |name, legacy| value(taken, name).or_else(|| value(taken, legacy));
    let path = path(taken).and_then(|path| returned_path(path).ok());
    (path, either(INDEX, LEGACY_INDEX).and_then(|index| index.parse().ok()))
}

/// Restores the annotations that were removed, with the path and index that the item has now. `is_same` is false for a new
/// item, which gets only path and index.
pub(crate) fn restore(
    item: &Item,
    taken: &[Annotation],
    is_same: bool,
) -> Result<Item, Diagnostic> {
    let annotations = if is_same && path_and_index(taken) == (item.path.clone(), item.index) {
        taken.to_vec()
    } else {
        updated(item, taken, is_same)
    };
    if annotations.is_empty() {
        return Ok(item.clone());
    }
    set(item, &annotations)
}

/// The annotations of an item that is new or was moved. Legacy names are updated if they were present.
fn updated(item: &Item, taken: &[Annotation], is_same: bool) -> Vec<Annotation> {
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
    let path: Path = "metadata.annotations".parse().expect("a valid path");
    let diagnostic = |error| Diagnostic::from_edit(&error, item.file());
    let exists = document.find(&path).is_some_and(|node| {
        node.as_scalar().is_none_or(|scalar| scalar.resolve() != ScalarType::Null)
    });
    let string = |text: &str| Value::string(text.to_owned());
    if exists {
        for (name, value) in all {
            edit.set_at(document, &path.join(name), string(value)).map_err(diagnostic)?;
        }
    } else {
        let entries = all.iter().map(|(name, value)| (string(name), string(value)));
        edit.set_at(document, &path, Value::Mapping(entries.collect())).map_err(diagnostic)?;
    }
    let new = edit.apply().map_err(|error| Diagnostic::from_edit(&error, item.file()))?;
    item.with_text(new)
}

/// Moves transport annotations that a function set into the item: path and index become the item's own, and any other is an
/// error, because it belongs to the orchestrator.
pub(crate) fn extract(before: Option<&Item>, after: Item) -> Result<Item, Error> {
    if !may_contain_any(after.text()) {
        return Ok(after);
    }
    let known: Vec<Annotation> = before.map(existing).unwrap_or_default();
    let new = wire_annotations(after.root());
    let new: Vec<_> = new.into_iter().filter(|(it, _)| !known.contains(it)).collect();
    if let Some(((name, _), node)) = new.iter().find(|((name, _), _)| is_reserved(name)) {
        let kind = StreamKind::ReservedAnnotation { name: name.clone() };
        return Err(Diagnostic::error(kind).at(after.file(), node.span()).into());
    }
    if new.is_empty() {
        return Ok(after);
    }
    let (taken, nodes): (Vec<Annotation>, Vec<NodeRef<'_>>) = new.into_iter().unzip();
    let mut bare = without(&after, &nodes)?;
    check_legacy_names(&after, &taken)?;
    for name in [PATH, LEGACY_PATH] {
        if let Some(path) = value(&taken, name) {
            bare.path = Some(package_path(path)?);
        }
    }
    if let (_, Some(index)) = path_and_index(&taken) {
        bare.index = Some(index);
    }
    Ok(bare)
}

fn existing(item: &Item) -> Vec<Annotation> {
    if !may_contain_any(item.text()) {
        return Vec::new();
    }
    wire_annotations(item.root()).into_iter().map(|(annotation, _)| annotation).collect()
}

fn is_reserved(name: &str) -> bool {
    name.starts_with(INTERNAL) && ![PATH, INDEX].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resource;

    fn received(annotations: &str) -> Item {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # comment\n  annotations:\n{annotations}"
        );
        Item::parse(text).unwrap()
    }

    #[test]
    fn removed_annotations_are_restored() {
        let text = "    internal.config.kubernetes.io/path: 'a.yaml'\n    internal.config.kubernetes.io/index: '2'\n    internal.config.kubernetes.io/krm-id: '7'\n    config.kubernetes.io/path: 'a.yaml'\n";
        let (item, taken) = strip(received(text)).unwrap();
        assert_eq!(item.text(), "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # comment\n");
        assert_eq!(
            (item.path.as_ref().map(PackagePath::as_str), item.index),
            (Some("a.yaml"), Some(2))
        );
        let back = restore(&item, &taken, true).unwrap();
        assert_eq!(
            back.text(),
            received(&text.replace("'a.yaml'", "a.yaml").replace('\'', "\"")).text()
        );
        let new = restore(&item, &taken, false).unwrap();
        assert!(!new.text().contains("krm-id") && !new.text().contains(" config.kubernetes.io"));
    }

    #[test]
    fn moving_updates_legacy_annotations() {
        let (mut item, taken) = strip(received(
            "    x: y\n    config.kubernetes.io/path: a.yaml\n    internal.config.kubernetes.io/id: '1'\n",
        ))
        .unwrap();
        item.path = Some(PackagePath::new("b.yaml").unwrap());
        let text = restore(&item, &taken, true).unwrap().text().to_owned();
        assert!(text.ends_with("    x: y\n    internal.config.kubernetes.io/path: b.yaml\n    config.kubernetes.io/path: b.yaml\n    internal.config.kubernetes.io/id: \"1\"\n"), "{text}");
    }

    #[test]
    fn conflicting_legacy_annotations_are_an_error() {
        let text = "    internal.config.kubernetes.io/path: a\n    config.kubernetes.io/path: b\n";
        let message = strip(received(text)).unwrap_err().message().to_owned();
        assert_eq!(
            message,
            "annotation `config.kubernetes.io/path` is `b`, but `internal.config.kubernetes.io/path` is `a`"
        );
    }

    #[test]
    fn function_may_set_path_but_no_reserved_annotation() {
        let mut pod = Resource::parse("apiVersion: v1\nkind: Pod\n").unwrap();
        pod.set(r#"metadata.annotations."internal.config.kubernetes.io/path""#, "b.yaml").unwrap();
        assert_eq!(pod.path().map(PackagePath::as_str), Some("b.yaml"));
        assert_eq!(pod.text(), "apiVersion: v1\nkind: Pod\n");
        for name in ["internal.config.kubernetes.io/krm-id", "internal.config.kubernetes.io/x"] {
            let error = pod.set_annotation(name, "1").unwrap_err().to_string();
            assert_eq!(error, format!("annotation `{name}` is reserved for the orchestrator"));
        }
        let error = pod.set_annotation("config.kubernetes.io/path", "../x").unwrap_err();
        assert_eq!(error.to_string(), "path `../x` leaves the package");
        assert!(Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {annotations: {internal.config.kubernetes.io/x: y}}\n").is_err());
    }
}
