//! Reading OpenAPI documents.

use krm_yaml::NodeRef;

use super::Schema;
use super::json_schema::Reader;
use super::kinds::SchemaKind;
use super::node::Node;
use crate::diagnostics::CommonKind;
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, Package, Severity};

/// The prefix of definitions of setters and substitutions, which are not types.
const SETTERS: &str = "io.k8s.cli.";

impl Schema {
    /// Adds the definitions of an OpenAPI document: `definitions` of version 2, `components.schemas` of version 3, either of
    /// them also below `openAPI`, as Krmfiles and Kptfiles have it. Problems are errors, and the rest is added.
    pub fn add_openapi(&mut self, document: NodeRef<'_>) -> Vec<Diagnostic> {
        self.read_openapi(document, Severity::Error)
    }

    /// Adds the CustomResourceDefinitions of a package, and the OpenAPI definitions of its Krmfile and Kptfile. Problems are
    /// warnings.
    pub fn add_package(&mut self, package: &Package) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for file in package.files().iter().filter(|file| file.path.is_package_file()) {
            let has_definitions =
                |node| Some(field(field(node, "openAPI")?, "definitions").is_some());
            for node in file.resources().map(|resource| resource.node) {
                if has_definitions(node) == Some(true) {
                    let found = self.read_openapi(node, Severity::Warning).into_iter();
                    diagnostics.extend(found.map(|it| it.in_file(&*file.display_path)));
                }
            }
        }
        diagnostics.extend(self.add_crds(package));
        diagnostics
    }

    fn read_openapi(&mut self, document: NodeRef<'_>, severity: Severity) -> Vec<Diagnostic> {
        let parent = field(document, "openAPI").unwrap_or(document);
        let definitions =
            field(parent, "definitions").or_else(|| field(field(parent, "components")?, "schemas"));
        let mut reader = Reader::new(&mut self.own, document, severity);
        match definitions {
            Some(definitions) if definitions.as_mapping().is_none() => {
                let expected = "a mapping of names to schemas for `definitions`";
                reader.report(definitions, CommonKind::wrong_type(expected, definitions));
            }
            Some(definitions) => reader.definitions(definitions),
            None => reader.report(document, SchemaKind::NoDefinitions),
        }
        reader.into_diagnostics()
    }
}

impl Reader<'_> {
    fn definitions(&mut self, definitions: NodeRef<'_>) {
        for (name, schema) in self.entries(definitions) {
            if name.starts_with(SETTERS) {
                continue;
            }
            if !self.consume_budget(schema) {
                break;
            }
            let id = self.read(schema);
            self.tables.definitions.insert(name.clone().into_owned().into(), id);
            if let Some(kinds) = field(schema, "x-kubernetes-group-version-kind") {
                self.kinds(&name, kinds);
            }
        }
    }

    /// Registers the kinds of a definition by its name, so that a later definition of that name replaces them.
    fn kinds(&mut self, definition: &str, kinds: NodeRef<'_>) {
        let Some(list) = kinds.as_sequence() else {
            let expected = "a sequence for `x-kubernetes-group-version-kind`";
            return self.report(kinds, CommonKind::wrong_type(expected, kinds));
        };
        for item in list.items() {
            let text = |name| field(item, name).and_then(scalar_text).unwrap_or_default();
            let (group, version, kind) = (text("group"), text("version"), text("kind"));
            if version.is_empty() || kind.is_empty() {
                let field = if kind.is_empty() { "kind" } else { "version" }.to_owned();
                let owner = "`x-kubernetes-group-version-kind`".to_owned();
                self.report(item, CommonKind::MissingField { field, owner });
                continue;
            }
            let reference = Some(definition.to_owned().into());
            let node = self.tables.nodes.add(Node { reference, ..Node::default() });
            self.tables.add_kind(api_version(&group, &version), kind.into_owned(), node);
        }
    }
}

/// `apps/v1`, or `v1` for the core group.
pub(super) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
