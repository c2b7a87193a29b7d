//! CustomResourceDefinitions: the kinds that a package brings along.

use krm_yaml::NodeRef;

use super::Schema;
use super::json_schema::Reader;
use super::node::{Field, Node, NodeId, ValueKind};
use super::openapi::api_version;
use crate::model::resource::{Resource, field, scalar_text};
use crate::{Diagnostic, Package, Severity};

const GROUP: &str = "apiextensions.k8s.io";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

impl Schema {
    /// Adds the kinds of a CustomResourceDefinition, of `v1` or `v1beta1`. What is wrong in it is a warning with its place, and
    /// the rest is added: lists can still be merged without their schema.
    pub fn add_crd(&mut self, crd: NodeRef<'_>) -> Vec<Diagnostic> {
        let mut reader = Reader::new(&mut self.own, crd, Severity::Warning);
        reader.crd(crd);
        reader.into_diagnostics()
    }

    /// Adds every CustomResourceDefinition of a package. The later of two for one kind counts.
    pub fn add_crds(&mut self, package: &Package) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        for placed in package.resources().filter(|placed| is_crd(placed.resource)) {
            let label = placed.resource.label();
            let found = self.add_crd(placed.resource.node).into_iter();
            let found = found.map(|fault| fault.in_file(&*placed.file.display_path));
            faults.extend(found.map(|fault| fault.resource(label.as_str())));
        }
        faults
    }
}

fn is_crd(resource: Resource<'_>) -> bool {
    resource.kind() == "CustomResourceDefinition" && resource.group() == GROUP
}

impl Reader<'_> {
    fn crd(&mut self, crd: NodeRef<'_>) {
        // A patch of a definition, as kustomize has them, says nothing about types.
        let says = |word| field(crd, "spec").filter(|spec| field(*spec, word).is_some());
        let Some(spec) = says("versions").or_else(|| says("validation")) else { return };
        let group = field(spec, "group").and_then(scalar_text).unwrap_or_default();
        if group.is_empty() {
            return self.report(spec, "a CustomResourceDefinition needs `spec.group`");
        }
        let names = field(spec, "names");
        let name = |word| names.and_then(|it| field(it, word)).and_then(scalar_text);
        let Some(kind) = name("kind").filter(|kind| !kind.is_empty()) else {
            return self.report(
                names.unwrap_or(spec),
                "a CustomResourceDefinition needs `spec.names.kind`",
            );
        };
        let list = name("listKind").map_or_else(|| format!("{kind}List"), |name| name.into_owned());
        // Spec: v1beta1 may have one schema for all versions, and its one version's name beside the group.
        let common = field(spec, "validation").and_then(|it| field(it, "openAPIV3Schema"));
        for (version, schema) in self.versions(spec) {
            let Some(schema) = schema.or(common) else { continue };
            let api_version = api_version(&group, &version);
            let node = self.read(schema);
            let node = self.as_resource(node);
            self.tables.add_kind(api_version.clone(), kind.clone().into_owned(), node);
            let node = self.list_of(node);
            self.tables.add_kind(api_version, list.clone(), node);
        }
    }

    /// The names of the versions, each with its schema.
    fn versions<'a>(&mut self, spec: NodeRef<'a>) -> Vec<(String, Option<NodeRef<'a>>)> {
        let mut versions = Vec::new();
        if let Some(list) = field(spec, "versions").and_then(NodeRef::as_sequence) {
            for item in list.items() {
                match field(item, "name").and_then(scalar_text).filter(|name| !name.is_empty()) {
                    Some(name) => versions.push((name.into_owned(), schema_of(item))),
                    None => {
                        self.report(item, "a version of a CustomResourceDefinition needs a `name`");
                    }
                }
            }
        } else if let Some(name) = field(spec, "version").and_then(scalar_text) {
            versions.push((name.into_owned(), None));
        } else {
            let at = field(spec, "versions").unwrap_or(spec);
            self.report(at, "a CustomResourceDefinition needs a list of `spec.versions`");
        }
        versions
    }

    /// The type at the root of a custom resource has metadata, whatever its schema says.
    fn as_resource(&mut self, id: NodeId) -> NodeId {
        let mut node = self.tables.nodes.get(id).clone();
        node.attributes.get_or_insert_default().is_resource = true;
        self.tables.nodes.add(node)
    }

    fn list_of(&mut self, item: NodeId) -> NodeId {
        let metadata = Node { reference: Some(LIST_META.into()), ..Node::default() };
        let items = Node { value_kind: ValueKind::Array, child: Some(item), ..Node::default() };
        let text = ValueKind::String as NodeId;
        let fields = [
            ("apiVersion", text, false),
            ("items", self.tables.nodes.add(items), true),
            ("kind", text, false),
            ("metadata", self.tables.nodes.add(metadata), false),
        ];
        let fields =
            fields.map(|(name, node, is_required)| Field { name: name.into(), node, is_required });
        self.tables.nodes.add(Node {
            value_kind: ValueKind::Object,
            fields: fields.into(),
            ..Node::default()
        })
    }
}

fn schema_of(version: NodeRef<'_>) -> Option<NodeRef<'_>> {
    field(field(version, "schema")?, "openAPIV3Schema")
}
