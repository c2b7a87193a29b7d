//! Reading CustomResourceDefinitions.

use krm_yaml::NodeRef;

use super::Schema;
use super::json_schema::Reader;
use super::node::{Field, Node, NodeId, ValueKind};
use super::openapi::api_version;
use crate::diagnostics::CommonKind;
use crate::model::resource::{Resource, field, scalar_text};
use crate::{Diagnostic, Package, Severity};

const GROUP: &str = "apiextensions.k8s.io";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

impl Schema {
    /// Adds the kinds of a CustomResourceDefinition of `v1` or `v1beta1`. Problems are warnings and the rest is added, because
    /// resources can still be merged without a schema.
    pub fn add_crd(&mut self, crd: NodeRef<'_>) -> Vec<Diagnostic> {
        let mut reader = Reader::new(&mut self.own, crd, Severity::Warning);
        reader.crd(crd);
        reader.into_diagnostics()
    }

    /// Adds all CustomResourceDefinitions of a package. A later definition of a kind replaces an earlier one.
    pub(crate) fn add_crds(&mut self, package: &Package) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for placed in package.resources().filter(|placed| is_crd(placed.resource)) {
            let label = placed.resource.label();
            let found = self.add_crd(placed.resource.node).into_iter();
            let found = found.map(|it| it.in_file(&*placed.file.display_path));
            diagnostics.extend(found.map(|it| it.resource(label.as_str())));
        }
        diagnostics
    }
}

fn is_crd(resource: Resource<'_>) -> bool {
    resource.kind() == "CustomResourceDefinition" && resource.group() == GROUP
}

impl Reader<'_> {
    fn crd(&mut self, crd: NodeRef<'_>) {
        // A kustomize patch of a definition has neither and is ignored.
        let with = |name| field(crd, "spec").filter(|spec| field(*spec, name).is_some());
        let Some(spec) = with("versions").or_else(|| with("validation")) else { return };
        let group = field(spec, "group").and_then(scalar_text).unwrap_or_default();
        let names = field(spec, "names");
        if group.is_empty() {
            // A patch of the versions names neither.
            return names.into_iter().for_each(|_| self.report(spec, missing("spec.group")));
        }
        let name = |key| names.and_then(|it| field(it, key)).and_then(scalar_text);
        let Some(kind) = name("kind").filter(|kind| !kind.is_empty()) else {
            return self.report(names.unwrap_or(spec), missing("spec.names.kind"));
        };
        let list = name("listKind").map_or_else(|| format!("{kind}List"), |name| name.into_owned());
        // Spec: v1beta1 may have one schema for all versions, and a single version as `spec.version`.
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
                        self.report(item, missing("spec.versions[].name"));
                    }
                }
            }
        } else if let Some(name) = field(spec, "version").and_then(scalar_text) {
            versions.push((name.into_owned(), None));
        } else {
            let at = field(spec, "versions").unwrap_or(spec);
            self.report(at, missing("spec.versions"));
        }
        versions
    }

    /// The root type of a custom resource always has metadata.
    fn as_resource(&mut self, id: NodeId) -> NodeId {
        let mut node = self.tables.nodes.get(id).clone();
        node.attributes.get_or_insert_default().is_resource = true;
        self.tables.nodes.add(node)
    }

    fn list_of(&mut self, item: NodeId) -> NodeId {
        let metadata = Node { reference: Some(LIST_META.into()), ..Node::default() };
        let items = Node { value_kind: ValueKind::Array, child: Some(item), ..Node::default() };
        let string = ValueKind::String as NodeId;
        let fields = [
            ("apiVersion", string, false),
            ("items", self.tables.nodes.add(items), true),
            ("kind", string, false),
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

fn missing(field: &str) -> CommonKind {
    let owner = "the CustomResourceDefinition".to_owned();
    CommonKind::MissingField { field: field.to_owned(), owner }
}

fn schema_of(version: NodeRef<'_>) -> Option<NodeRef<'_>> {
    field(field(version, "schema")?, "openAPIV3Schema")
}
