//! OpenAPI documents: definitions with the kinds that they are of.

use krm_yaml::NodeRef;

use super::Schema;
use super::json_schema::Reader;
use super::node::Node;
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, Package, Severity};

/// Definitions of setters and substitutions, which say nothing about types of resources.
const SETTERS: &str = "io.k8s.cli.";

impl Schema {
    /// Adds the definitions of an OpenAPI document: `definitions` of version 2, `components.schemas` of version 3, either of
    /// them also below `openAPI`, as Krmfiles and Kptfiles have it. What is wrong is an error with its place, and the rest is added.
    pub fn add_openapi(&mut self, document: NodeRef<'_>) -> Vec<Diagnostic> {
        self.read_openapi(document, Severity::Error)
    }

    /// Adds what the files of a package say: its CustomResourceDefinitions, and the OpenAPI definitions of Krmfiles and Kptfiles.
    /// What is wrong in them is a warning with its place.
    pub fn add_package(&mut self, package: &Package) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        for file in package.files().iter().filter(|file| file.path.is_package_file()) {
            let has_definitions =
                |node| Some(field(field(node, "openAPI")?, "definitions").is_some());
            for node in file.resources().map(|resource| resource.node) {
                if has_definitions(node) == Some(true) {
                    let found = self.read_openapi(node, Severity::Warning).into_iter();
                    faults.extend(found.map(|fault| fault.in_file(&*file.display_path)));
                }
            }
        }
        faults.extend(self.add_crds(package));
        faults
    }

    fn read_openapi(&mut self, document: NodeRef<'_>, severity: Severity) -> Vec<Diagnostic> {
        let home = field(document, "openAPI").unwrap_or(document);
        let definitions =
            field(home, "definitions").or_else(|| field(field(home, "components")?, "schemas"));
        let mut reader = Reader::new(&mut self.own, document, severity);
        let nothing = "there are no `definitions` and no `components.schemas` here";
        match definitions {
            Some(definitions) if definitions.as_mapping().is_none() => {
                reader.report(definitions, "definitions must be a mapping of names to schemas");
            }
            Some(definitions) => reader.definitions(definitions),
            None => reader.report(document, nothing),
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

    /// The kinds of a definition lead to its name, so that a later definition of that name takes them over.
    fn kinds(&mut self, definition: &str, kinds: NodeRef<'_>) {
        let Some(list) = kinds.as_sequence() else {
            return self.report(kinds, "`x-kubernetes-group-version-kind` must be a list");
        };
        for item in list.items() {
            let text = |name| field(item, name).and_then(scalar_text).unwrap_or_default();
            let (group, version, kind) = (text("group"), text("version"), text("kind"));
            if version.is_empty() || kind.is_empty() {
                self.report(item, "a kind needs `group`, `version` and `kind`");
                continue;
            }
            let reference = Some(definition.to_owned().into());
            let node = self.tables.nodes.add(Node { reference, ..Node::default() });
            self.tables.add_kind(api_version(&group, &version), kind.into_owned(), node);
        }
    }
}

/// `apps/v1`, or `v1` where the group has no name.
pub(super) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
