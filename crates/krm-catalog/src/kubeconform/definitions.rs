//! The schemas of the resources: built-in kinds, CustomResourceDefinitions and JSON Schemas in files.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_core::schema::Schema;
use krm_sdk::{Error, Resource};
use krm_yaml::{File, NodeRef};

use super::locations::{Documents, Location, SchemaName, kind_suffix};
use super::rules::{Dialect, Rules, SchemaNode};
use crate::lookup::{child, items, text};
use crate::schema_files::SchemaFiles;

/// The schema of a resource.
pub(super) struct Found<'a> {
    pub(super) rules: Rules<'a>,
    /// The `apiVersion` and `kind` of the schema, if the resource has others.
    ///
    /// Compat: kubeconform finds schemas by file names, in which kinds are in lower case and groups end at the first dot, and then
    /// reports the other spelling: `kind: deployment`, `apiVersion: apps.example.com/v1`.
    pub(super) expected: Option<(String, String)>,
}

/// All schemas, by `apiVersion` and `kind`.
pub(super) struct Definitions<'a> {
    locations: Vec<Location>,
    table: Schema,
    custom: BTreeMap<(String, String), NodeRef<'a>>,
    documents: Documents,
    /// For the names of files.
    version: String,
    is_strict: bool,
}

impl<'a> Definitions<'a> {
    /// The schemas of CustomResourceDefinitions, and of the kinds of a Kubernetes version.
    pub(super) fn new(
        locations: Vec<Location>,
        table: Schema,
        version: &str,
        strict: bool,
    ) -> Self {
        Self {
            locations,
            table,
            custom: BTreeMap::new(),
            documents: Documents::default(),
            version: version.to_owned(),
            is_strict: strict,
        }
    }

    /// Adds the kinds of CustomResourceDefinitions among resources.
    pub(super) fn add_resources(&mut self, resources: impl Iterator<Item = &'a Resource>) {
        for resource in resources {
            self.add(resource.root());
        }
    }

    /// Adds the kinds of CustomResourceDefinitions in a file.
    pub(super) fn add_file(&mut self, file: &'a File) {
        let roots = file.documents().filter_map(|document| document.root());
        roots.for_each(|root| self.add(root));
    }

    fn add(&mut self, node: NodeRef<'a>) {
        let is_definition = text(node, "kind").is_some_and(|it| it == "CustomResourceDefinition")
            && text(node, "apiVersion").is_some_and(|it| it.starts_with("apiextensions.k8s.io/"));
        if is_definition {
            self.custom.extend(kinds(node).unwrap_or_default());
        }
    }

    fn paths(&self, resource: &Resource) -> impl Iterator<Item = (String, &Location)> {
        let (api_version, kind) = (resource.api_version(), resource.kind());
        let (version, strict) = (self.version.as_str(), self.is_strict);
        let expand = move |template: &str| {
            let (api_version, kind) = (&*api_version, &*kind);
            SchemaName { api_version, kind, version, strict }.expand(template)
        };
        self.locations.iter().map(move |location| match location {
            Location::Files { template, .. } => (expand(template), location),
            Location::BuiltIn => (String::new(), location),
        })
    }

    /// Reads the JSON Schemas of a resource from files, up to the first that exists.
    pub(super) fn load(
        &mut self,
        resource: &Resource,
        files: &dyn SchemaFiles,
    ) -> Result<(), Error> {
        let paths: Vec<_> = self.paths(resource).map(|(path, it)| (path, it.clone())).collect();
        for (path, location) in paths {
            let Location::Files { named_by, .. } = location else {
                match self.built_in(resource) {
                    Some(_) => return Ok(()),
                    None => continue,
                }
            };
            if self.documents.load(&path, named_by, files)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The schema of a resource: that of the first location that has one, then that of its CustomResourceDefinition.
    pub(super) fn find(&self, resource: &Resource) -> Option<Found<'_>> {
        let exact = |rules| Found { rules, expected: None };
        for (path, location) in self.paths(resource) {
            match location {
                Location::Files { .. } => {
                    if let Some((path, node)) = self.documents.resolve_file(&path) {
                        let dialect = Dialect::Json { documents: &self.documents, path };
                        return Some(exact(Rules::Schema(SchemaNode::new(node, dialect))));
                    }
                }
                Location::BuiltIn => {
                    if let Some(found) = self.built_in(resource) {
                        return Some(found);
                    }
                }
            }
        }
        self.custom_kind(resource).map(exact)
    }

    fn custom_kind(&self, resource: &Resource) -> Option<Rules<'_>> {
        let key = (resource.api_version(), resource.kind());
        let schema = SchemaNode::new(*self.custom.get(&key)?, Dialect::Crd { table: &self.table });
        Some(Rules::Schema(schema.as_resource()))
    }

    /// The schema of a kind that is built in, or defined by a CustomResourceDefinition.
    fn built_in(&self, resource: &Resource) -> Option<Found<'_>> {
        let (api_version, kind) = (resource.api_version(), resource.kind());
        if let Some(rules) = self.custom_kind(resource) {
            return Some(Found { rules, expected: None });
        }
        if let Some(found) = self.table.resource_type(&api_version, &kind) {
            return Some(Found { rules: Rules::Kubernetes(found), expected: None });
        }
        let suffix = kind_suffix(&api_version);
        let is_same = |(other, name): &(&str, &str)| {
            name.eq_ignore_ascii_case(&kind) && kind_suffix(other) == suffix
        };
        let (api_version, kind) = self.table.kinds().find(is_same)?;
        let rules = Rules::Kubernetes(self.table.resource_type(api_version, kind)?);
        Some(Found { rules, expected: Some((api_version.to_owned(), kind.to_owned())) })
    }
}

/// The kinds of a CustomResourceDefinition with their schemas.
fn kinds(definition: NodeRef<'_>) -> Option<Vec<((String, String), NodeRef<'_>)>> {
    let spec = child(definition, "spec")?;
    let group = text(spec, "group")?;
    let kind = text(child(spec, "names")?, "kind")?;
    let schema_in = |node, name| child(child(node, name)?, "openAPIV3Schema");
    // Spec: v1beta1 may have one schema for all versions, and a single version in `spec.version`.
    let common = schema_in(spec, "validation");
    let mut versions: Vec<(Cow<'_, str>, Option<NodeRef<'_>>)> = Vec::new();
    for version in items(spec, "versions") {
        versions.push((text(version, "name")?, schema_in(version, "schema").or(common)));
    }
    if versions.is_empty() {
        versions.push((text(spec, "version")?, common));
    }
    let with_name = |(version, schema): (Cow<'_, str>, Option<_>)| {
        Some(((format!("{group}/{version}"), kind.clone().into_owned()), schema?))
    };
    Some(versions.into_iter().filter_map(with_name).collect())
}
