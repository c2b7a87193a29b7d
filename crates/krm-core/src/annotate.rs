//! Setting annotations of resources.

use krm_yaml::{Edit, EditError, EditErrorKind, KeyPosition, NodeKind, NodeRef, Segment, Value};

use crate::model::package::PackageFile;
use crate::model::resource::is_null;
use crate::{Diagnostic, Resource};

/// Selects resources. Every field that is given must be equal.
#[derive(Clone, Debug, Default)]
pub struct ResourceFilter {
    /// The kind.
    pub kind: Option<String>,
    /// The `apiVersion`.
    pub api_version: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// Labels, with their values.
    pub labels: Vec<(String, String)>,
}

impl ResourceFilter {
    /// Whether a resource is selected.
    pub fn matches(&self, resource: Resource<'_>) -> bool {
        let is =
            |expected: &Option<String>, found: &str| expected.as_ref().is_none_or(|it| it == found);
        is(&self.kind, &resource.kind())
            && is(&self.api_version, &resource.api_version())
            && is(&self.name, &resource.name())
            && is(&self.namespace, &resource.namespace())
            && self
                .labels
                .iter()
                .all(|(key, value)| resource.label_value(key).is_some_and(|it| it == *value))
    }
}

/// The text of a file with annotations set on the selected resources; none if nothing changes.
///
/// ```
/// use krm_core::annotate::{ResourceFilter, annotate};
/// use krm_core::PackageFile;
///
/// let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # first\n".to_owned();
/// let file = PackageFile::from_text("a.yaml", text)?;
/// let new = annotate(&file, &ResourceFilter::default(), &[("by".into(), "7".into())]).expect("the file can be edited");
/// let new = new.expect("a change");
/// assert_eq!(new, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # first\n  annotations:\n    by: \"7\"\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn annotate(
    file: &PackageFile,
    filter: &ResourceFilter,
    annotations: &[(String, String)],
) -> Result<Option<String>, Vec<Diagnostic>> {
    let Some(source) = file.file() else { return Ok(None) };
    let diagnostic =
        |error: &EditError| Diagnostic::from_edit(error, source).in_file(&*file.display_path);
    let mut edit = Edit::new(source).json(file.path.is_json());
    let mut errors = Vec::new();
    for resource in file.resources().filter(|resource| filter.matches(*resource)) {
        if let Err(error) = add(&mut edit, resource.node, annotations) {
            errors.push(diagnostic(&error));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if edit.is_empty() {
        return Ok(None);
    }
    edit.apply().map(Some).map_err(|error| vec![diagnostic(&error)])
}

/// Adds the edits that set annotations of one resource.
pub(crate) fn add<'a, T: AsRef<str>>(
    edit: &mut Edit<'a>,
    resource: NodeRef<'a>,
    annotations: &'a [(T, T)],
) -> Result<(), EditError> {
    let string = |text: &'a T| Value::string(text.as_ref());
    let all = || {
        Value::Mapping(
            annotations.iter().map(|(key, value)| (string(key), string(value))).collect(),
        )
    };
    let Some(metadata) = own(resource, "metadata")? else {
        let metadata = Value::Mapping(vec![(Value::string("annotations"), all())]);
        return edit.insert_key(resource, "metadata", metadata, KeyPosition::After("kind"));
    };
    let existing = if is_null(metadata) { None } else { own(metadata, "annotations")? };
    let Some(existing) = existing else {
        return edit.insert_key(metadata, "annotations", all(), KeyPosition::Last);
    };
    if is_null(existing) {
        return edit.set(existing, all());
    }
    for (key, value) in annotations {
        match existing.as_mapping().and_then(|mapping| mapping.get(key.as_ref())) {
            Some(old) => edit.set(old, string(value))?,
            None => edit.insert_key(existing, key.as_ref(), string(value), KeyPosition::Last)?,
        }
    }
    Ok(())
}

/// The value of a field of this mapping. A field that is an alias or comes from a merge key is an error: editing it would change
/// the original, and a new field would hide it.
fn own<'a>(node: NodeRef<'a>, name: &str) -> Result<Option<NodeRef<'a>>, EditError> {
    let refuse = |by: NodeRef<'_>| {
        Err(EditError::at(by, EditErrorKind::PathThroughAlias { alias: by.text().to_owned() }))
    };
    let Some(mapping) = node.as_mapping() else {
        let found = if node.as_sequence().is_some() { "a sequence" } else { "a scalar" };
        let (expected, subject) = ("a mapping", format!("key `{name}`"));
        return Err(EditError::at(node, EditErrorKind::WrongNodeKind { expected, subject, found }));
    };
    match mapping.get(name) {
        Some(value) if value.kind() == NodeKind::Alias => refuse(value),
        Some(value) => Ok(Some(value)),
        None => match mapping.get("<<") {
            Some(by) if node.step(&Segment::Key(name.to_owned())).is_some() => refuse(by),
            _ => Ok(None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;
    use proptest::prelude::*;

    /// Metadata in various styles, and the number of lines that one more annotation adds.
    const METADATA: [(&str, usize); 8] = [
        ("metadata:\n  name: a # own\n", 2),
        ("metadata:\n  name: a\n  annotations:\n    x: y\nspec: {}\n", 1),
        (
            "metadata:\n    name: a\n\n    # why\n    annotations:\n        x: 'y' # kept\n\nspec:\n- 1\n",
            1,
        ),
        ("metadata:\n  annotations:\n  name: a\n", 1),
        ("metadata: {name: a}\n", 0),
        ("metadata:\n  annotations: {x: y}\n", 0),
        ("metadata:\nspec: 1\n", 2),
        ("spec: 1 # no metadata\n", 3),
    ];

    fn edited(text: &str, annotations: &[(String, String)]) -> Option<String> {
        let package = package(&[("a.yaml", text)]);
        annotate(&package.files()[0], &ResourceFilter::default(), annotations).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn set_twice_is_set_once(
            documents in prop::collection::vec(0..METADATA.len(), 1..4),
            key in "[a-z.]{1,8}/[a-z]{1,4}",
            value in "\\PC{0,20}",
            crlf: bool,
        ) {
            let text = |n: &usize| format!("apiVersion: v1\nkind: Pod\n{}", METADATA[*n].0);
            let text = documents.iter().map(text).collect::<Vec<_>>().join("---\n");
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            let annotations = [(key.clone(), value.clone())];
            let once = edited(&text, &annotations).expect("no document has it");
            prop_assert_eq!(edited(&once, &annotations), None, "{}", once);
            let package = package(&[("a.yaml", &once)]);
            for placed in package.resources() {
                let found = placed.resource.annotation(&key);
                prop_assert_eq!(found.as_deref(), Some(&*value));
            }
            let new: usize = documents.iter().map(|n| METADATA[*n].1).sum();
            prop_assert_eq!(once.lines().count(), text.lines().count() + new, "{}", once);
            let kept = text.lines().filter(|line| !line.contains('{'));
            let mut lines = once.lines();
            for line in kept {
                prop_assert!(lines.any(|other| other == line), "{line:?} is gone: {once}");
            }
        }
    }
}
