//! The resources of a package as they are sent: each with its place and an id in its annotations.

use krm_yaml::{Edit, EditError, File, NodeRef, Value};

use super::Version;
use super::annotations::{ID, INDEX, INTERNAL, LEGACY_INDEX, LEGACY_PATH, PATH};
use super::matching::Sent;
use crate::package::{PackageFile, Placed};
use crate::resource::{field, resources, scalar_text};
use crate::wrapper::Wrapper;
use crate::{Diagnostic, Package, Resource, annotate, json, subtree};

/// What is sent to a function.
#[derive(Clone, Debug, Default)]
pub struct Sending<'a> {
    /// The resources, in the order of the package.
    pub sent: Vec<Sent<'a>>,
    /// The text of each, with its annotations.
    pub texts: Vec<String>,
}

impl<'a> Sending<'a> {
    /// The resources of a package that are wanted.
    pub fn of(
        package: &'a Package,
        wanted: impl Fn(Placed<'a>) -> bool,
    ) -> Result<Self, Diagnostic> {
        let mut sending = Self::default();
        for file in package.files() {
            sending.add(file, &wanted)?;
        }
        Ok(sending)
    }

    fn add(
        &mut self,
        file: &'a PackageFile,
        wanted: &impl Fn(Placed<'a>) -> bool,
    ) -> Result<(), Diagnostic> {
        let mut index = 0;
        for document in file.file().into_iter().flat_map(File::documents) {
            let all = resources(document).into_iter();
            let placed = all.map(|resource| {
                index += 1;
                Placed { file, index: index - 1, resource }
            });
            let placed: Vec<Placed<'a>> = placed.filter(|placed| wanted(*placed)).collect();
            let nodes: Vec<NodeRef<'a>> =
                placed.iter().map(|placed| placed.resource.node).collect();
            for (placed, text) in placed.into_iter().zip(subtree::texts(&nodes)) {
                self.push(placed, text)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, placed: Placed<'a>, text: String) -> Result<(), Diagnostic> {
        let id = self.sent.len().to_string();
        let (path, index) = (placed.file.path.as_str(), placed.index.to_string());
        let mut annotations = vec![(PATH, path), (INDEX, &*index), (ID, &*id)];
        // Compat: a resource that has the older names gets its place in those, too.
        for (legacy, value) in [(LEGACY_PATH, path), (LEGACY_INDEX, &*index)] {
            if placed.resource.annotation(legacy).is_some() {
                annotations.push((legacy, value));
            }
        }
        let text = annotated(subtree::end_line(text), &annotations, placed)
            .map_err(|told| told.in_file(&*placed.file.shown))?;
        self.texts.push(text);
        let (path, index, resource) = (placed.file.path.clone(), placed.index, placed.resource);
        self.sent.push(Sent { resource, id, path, index, internal: internal(resource) });
        Ok(())
    }

    /// The `ResourceList` that goes to the function.
    pub fn list(
        &self,
        version: Version,
        function_config: Option<&str>,
    ) -> Result<String, Diagnostic> {
        let wrapper = Wrapper {
            kind: "ResourceList".to_owned(),
            version: version.api_version(),
            function_config: function_config.map(str::to_owned),
        };
        wrapper.wrap(&self.texts)
    }
}

/// Internal annotations that a resource has of its own.
fn internal(resource: Resource<'_>) -> Vec<(std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)> {
    let annotations = field(resource.node, "metadata").and_then(|it| field(it, "annotations"));
    let entries = annotations.and_then(NodeRef::as_mapping).into_iter().flat_map(|it| it.entries());
    let named = entries.filter_map(|it| Some((scalar_text(it.key)?, scalar_text(it.value)?)));
    let is_other = |name: &str| name.starts_with(INTERNAL) && ![PATH, INDEX, ID].contains(&name);
    named.filter(|(name, _)| is_other(name)).collect()
}

/// The text of a resource with annotations added.
///
/// Where they come from somewhere else in the file the function gets the resource written out: the file itself is not
/// touched by that.
fn annotated(
    text: String,
    annotations: &[(&str, &str)],
    placed: Placed<'_>,
) -> Result<String, Diagnostic> {
    let refused = match try_annotate(text, annotations)? {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    let written_out = json::write(&Value::Node(placed.resource.node)) + "\n";
    try_annotate(written_out, annotations)?.map_err(|_| {
        let node = placed.resource.node;
        let message = format!("{} cannot be sent: {}", placed.resource.label(), refused.message);
        Diagnostic::error(message).at(node.document().file(), node.span())
    })
}

fn try_annotate(
    text: String,
    annotations: &[(&str, &str)],
) -> Result<Result<String, EditError>, Diagnostic> {
    let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    let root = file.documents().find_map(|document| document.root());
    let Some(root) = root else { return Ok(Ok(file.into_text())) };
    let mut edit = Edit::new(&file);
    let added = annotate::add(&mut edit, root, annotations);
    Ok(added.and_then(|()| edit.apply()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::tests::package;

    fn sent(text: &str) -> String {
        let package = package(&[("a/b.yaml", text)]);
        Sending::of(&package, |_| true).unwrap().list(Version::V1, None).unwrap()
    }

    #[test]
    fn resources_go_out_with_their_comments_and_places() {
        let text = "# head\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a # it\n---\nkind: None\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b, annotations: {x: y}}\n";
        let wanted = "apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
# head
- apiVersion: v1
  kind: Pod
  metadata:
    name: a # it
    annotations:
      internal.config.kubernetes.io/path: a/b.yaml
      internal.config.kubernetes.io/index: \"0\"
      internal.config.kubernetes.io/krm-id: \"0\"
- apiVersion: v1
  kind: Pod
  metadata: {name: b, annotations: {x: y, internal.config.kubernetes.io/path: a/b.yaml, internal.config.kubernetes.io/index: \"1\", internal.config.kubernetes.io/krm-id: \"1\"}}
";
        assert_eq!(sent(text), wanted);
    }

    #[test]
    fn older_names_are_written_where_they_were_read() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    config.kubernetes.io/path: old.yaml\n";
        let list = sent(text);
        assert!(list.contains("\n      config.kubernetes.io/path: a/b.yaml\n"), "{list}");
        assert!(!list.contains("\n      config.kubernetes.io/index"), "{list}");
    }

    #[test]
    fn a_resource_whose_annotations_come_from_elsewhere_is_written_out() {
        let text = "x: &a {k: v}\napiVersion: v1\nkind: Pod\nmetadata: {annotations: *a} # c\n";
        let list = sent(text);
        assert!(list.contains(r#""annotations":{"k":"v","#), "{list}");
    }
}
