//! Removes the annotations of the orchestrator from a resource before it is written to a file.

use krm_yaml::{Edit, EditError, EmptyParents, NodeRef};

use super::Item;
use super::annotations::is_wire_annotation;
use crate::Diagnostic;
use crate::model::resource::{field, is_null, scalar_text};

/// The item without annotations that belong to a ResourceList, also those of the items of a list; none if it has no such annotation.
///
/// Spec: internal annotations "are not persisted to resource manifests on the filesystem". A file may have some all the same, because
/// another tool wrote them, and a function may return a list with items of its own.
pub fn without_wire_annotations(item: &Item) -> Result<Option<Item>, Diagnostic> {
    // A cheap test that spares most resources the search.
    if !item.text().contains("config.kubernetes.io/") {
        return Ok(None);
    }
    let mut found = Vec::new();
    collect(item.root(), &mut found);
    if found.is_empty() {
        return Ok(None);
    }
    let diagnostic = |error: EditError| Diagnostic::from_edit(&error, item.file());
    let mut edit = Edit::new(item.file());
    for node in found {
        edit.remove(node, EmptyParents::Remove).map_err(diagnostic)?;
    }
    item.with_text(edit.apply().map_err(diagnostic)?).map(Some)
}

/// Adds the values of the annotations of a resource and, if it is a list, of its items.
fn collect<'a>(resource: NodeRef<'a>, found: &mut Vec<NodeRef<'a>>) {
    let annotations = field(resource, "metadata").and_then(|it| field(it, "annotations"));
    let mapping = annotations.filter(|it| !is_null(*it)).and_then(NodeRef::as_mapping);
    let entries = mapping.into_iter().flat_map(|it| it.entries());
    let is_wire = |key: NodeRef<'_>| scalar_text(key).is_some_and(|name| is_wire_annotation(&name));
    found.extend(entries.filter(|entry| is_wire(entry.key)).map(|entry| entry.value));
    let is_list =
        field(resource, "kind").and_then(scalar_text).is_some_and(|it| it.ends_with("List"));
    if let Some(items) = field(resource, "items").filter(|_| is_list).and_then(NodeRef::as_sequence)
    {
        items.items().for_each(|item| collect(item, found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> Option<String> {
        let item = Item::parse(text.to_owned()).unwrap();
        without_wire_annotations(&item).unwrap().map(|item| item.text().to_owned())
    }

    #[test]
    fn annotations_of_the_orchestrator_are_removed() {
        let head = "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n";
        let annotations = "  annotations:\n    internal.config.kubernetes.io/path: a.yaml\n    config.kubernetes.io/index: '0' # x\n    internal.config.kubernetes.io/krm-id: '3'\n    internal.config.kubernetes.io/any: b\n";
        assert_eq!(stripped(&format!("{head}{annotations}")).as_deref(), Some(head));
        let own = "    config.kubernetes.io/local-config: 'true' # own\n";
        let kept = format!("{head}  annotations:\n{own}");
        assert_eq!(stripped(&format!("{head}{annotations}{own}")), Some(kept.clone()));
        assert_eq!(stripped(&kept), None);
    }

    #[test]
    fn items_of_nested_lists_are_stripped() {
        let item = "- apiVersion: v1\n  kind: PodList\n  items:\n  - {apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {config.kubernetes.io/path: a.yaml}}}\n";
        let text = format!("apiVersion: v1\nkind: List\nitems:\n{item}");
        let expected = text.replace(", annotations: {config.kubernetes.io/path: a.yaml}", "");
        assert_eq!(stripped(&text), Some(expected));
        // The data of a resource that is not a list belongs to its owner.
        assert_eq!(stripped(&text.replace("kind: List", "kind: Other")), None);
    }
}
