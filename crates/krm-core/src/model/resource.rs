//! Resources: views of the nodes that are Kubernetes objects, and their identities.

use std::borrow::Cow;
use std::fmt;

use krm_yaml::{DocumentRef, NodeKind, NodeRef, Position, ScalarType, Segment};

/// The identity of a resource across files and versions of a package.
///
/// It has the API group without the version, because `apps/v1` and `apps/v1beta1` are versions of the same object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty if there is none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.group.is_empty() { "" } else { "." };
        let kind = format!("{}{dot}{}", self.kind, self.group);
        f.write_str(&label(&kind, &self.namespace, &self.name))
    }
}

pub(crate) fn label(kind: &str, namespace: &str, name: &str) -> String {
    match (namespace, name) {
        ("", "") => kind.to_owned(),
        ("", name) => format!("{kind} {name}"),
        (namespace, name) => format!("{kind} {namespace}/{name}"),
    }
}

/// A view of one resource: a document, an item of a list, or an element of a bare sequence.
#[derive(Clone, Copy, Debug)]
pub struct Resource<'a> {
    /// The mapping that is the resource.
    pub node: NodeRef<'a>,
    /// Its index in its list or sequence; none for a whole document.
    pub item: Option<usize>,
}

impl<'a> Resource<'a> {
    fn text(self, name: &str) -> Option<Cow<'a, str>> {
        field(self.node, name)?.as_str()
    }

    fn metadata(self, name: &str) -> Option<NodeRef<'a>> {
        field(field(self.node, "metadata")?, name)
    }

    /// A scalar of the metadata as a string, whatever its type: the name in `name: 123` is `123`.
    fn metadata_text(self, name: &str) -> Cow<'a, str> {
        self.metadata(name).and_then(scalar_text).unwrap_or_default()
    }

    /// `apiVersion` as written.
    pub fn api_version(self) -> Cow<'a, str> {
        self.text("apiVersion").unwrap_or_default()
    }

    /// The API group; empty for the core group.
    pub fn group(self) -> String {
        let version = self.api_version();
        version.split_once('/').map_or_else(String::new, |(group, _)| group.to_owned())
    }

    /// The kind.
    pub fn kind(self) -> Cow<'a, str> {
        self.text("kind").unwrap_or_default()
    }

    /// The name; empty if there is none.
    pub fn name(self) -> Cow<'a, str> {
        self.metadata_text("name")
    }

    /// The namespace; empty if there is none.
    pub fn namespace(self) -> Cow<'a, str> {
        self.metadata_text("namespace")
    }

    /// The identity; none without a name.
    pub fn identity(self) -> Option<Identity> {
        let name = self.name().into_owned();
        (!name.is_empty()).then(|| Identity {
            group: self.group(),
            kind: self.kind().into_owned(),
            namespace: self.namespace().into_owned(),
            name,
        })
    }

    /// The value of an annotation, as a string.
    pub fn annotation(self, name: &str) -> Option<Cow<'a, str>> {
        scalar_text(field(self.metadata("annotations")?, name)?)
    }

    /// The value of a label, as a string.
    pub fn label_value(self, name: &str) -> Option<Cow<'a, str>> {
        scalar_text(field(self.metadata("labels")?, name)?)
    }

    /// Whether the resource is configuration for tools that is never sent to a cluster.
    ///
    /// Spec: `config.kubernetes.io/local-config` with any value but `"false"`.
    pub fn is_local(self) -> bool {
        self.annotation("config.kubernetes.io/local-config").is_some_and(|value| value != "false")
    }

    /// The document of the resource.
    pub fn document(self) -> DocumentRef<'a> {
        self.node.document()
    }

    /// The label of the resource in messages and trees: `Deployment shop/web`.
    pub fn label(self) -> String {
        label(&self.kind(), &self.namespace(), &self.name())
    }

    /// The line and column of the resource.
    pub fn position(self) -> Position {
        self.node.position()
    }
}

/// The resources of one document, in order.
pub fn resources(document: DocumentRef<'_>) -> Vec<Resource<'_>> {
    let Some(root) = document.root() else { return Vec::new() };
    match root.kind() {
        NodeKind::Sequence => items(root),
        NodeKind::Mapping if is_resource(root) => match list_items(root) {
            Some(list) => items(list),
            None => vec![Resource { node: root, item: None }],
        },
        _ => Vec::new(),
    }
}

/// Whether a node is null.
pub(crate) fn is_null(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == ScalarType::Null)
}

/// Whether the root of a document is written, if only as a tag: the root of a document without content is an empty scalar.
pub(crate) fn is_written(root: NodeRef<'_>) -> bool {
    root.is_collection() || !root.text().is_empty() || root.tag().is_some()
}

/// A field, looked up through aliases and merge keys (`<<`).
pub(crate) fn field<'a>(node: NodeRef<'a>, name: &str) -> Option<NodeRef<'a>> {
    let mapping = node.resolve().as_mapping()?;
    let found = mapping.get(name).or_else(|| {
        mapping.get("<<")?;
        node.step(&Segment::Key(name.to_owned()))
    });
    found.map(NodeRef::resolve)
}

/// A scalar of any type as a string; none for null.
pub(crate) fn scalar_text(node: NodeRef<'_>) -> Option<Cow<'_, str>> {
    let scalar = node.resolve().as_scalar()?;
    (scalar.resolve() != ScalarType::Null).then(|| scalar.value())
}

/// Whether a node is a mapping with `apiVersion` and `kind`, both non-empty strings.
pub(crate) fn is_resource(node: NodeRef<'_>) -> bool {
    ["apiVersion", "kind"].iter().all(|name| {
        let value = field(node, name).and_then(NodeRef::as_str);
        value.is_some_and(|value| !value.is_empty())
    })
}

/// The items of a `List` or `ResourceList`, and of a `…List` whose items are resources. A custom kind may merely be named like a list.
pub(crate) fn list_items(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let kind = field(node, "kind")?.as_str().filter(|kind| kind.ends_with("List"))?;
    let list = field(node, "items")?;
    let mut items = list.as_sequence()?.items();
    let is_list = matches!(&*kind, "List" | "ResourceList") || items.any(is_resource);
    is_list.then_some(list)
}

/// The resources among the items of a list.
pub(crate) fn items(list: NodeRef<'_>) -> Vec<Resource<'_>> {
    let numbered = list
        .children()
        .enumerate()
        .filter(|(_, node)| node.kind() == NodeKind::Mapping && is_resource(*node));
    numbered.map(|(item, node)| Resource { node, item: Some(item) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    fn kinds(text: &str) -> Vec<String> {
        let file = File::parse(text.to_owned()).unwrap();
        file.documents().flat_map(resources).map(|r| format!("{:?} {}", r.item, r.kind())).collect()
    }

    #[test]
    fn documents_lists_and_bare_sequences_hold_resources() {
        assert_eq!(
            kinds("apiVersion: v1\nkind: Pod\n---\nkind: Pod\n---\napiVersion: 1\nkind: Pod\n"),
            ["None Pod"]
        );
        let list = "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: A}\n- x\n- {apiVersion: v1, kind: B}\n";
        assert_eq!(kinds(list), ["Some(0) A", "Some(2) B"]);
        assert_eq!(kinds("- {apiVersion: v1, kind: A}\n"), ["Some(0) A"]);
        for own in ["spec: {}", "items: [milk, eggs]"] {
            assert_eq!(
                kinds(&format!("apiVersion: v1\nkind: PriceList\n{own}\n")),
                ["None PriceList"]
            );
        }
        assert!(kinds("apiVersion: v1\nkind: List\nitems: []\n").is_empty());
    }

    #[test]
    fn identity_has_no_version() {
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: 123, namespace: ns, annotations: {config.kubernetes.io/local-config: 'false'}}\n";
        let file = File::parse(text.to_owned()).unwrap();
        let resource = resources(file.document(0).unwrap())[0];
        let identity = resource.identity().unwrap();
        assert_eq!(identity.to_string(), "Deployment.apps ns/123");
        assert!(!resource.is_local());
    }
}
