//! Schemas of the built-in Kubernetes kinds, of custom resources and of OpenAPI documents.
//!
//! They answer which fields a type has, what their types are, and how lists and mappings are merged. A [`Schema`] is a value that
//! is passed to each operation; there is no global state.

mod comment;
mod crd;
mod definitions;
mod embedded;
mod field_type;
mod json_schema;
mod keywords;
mod kinds;
mod merge_strategy;
mod node;
mod openapi;
mod table;
mod table_writer;
mod type_ref;
mod versions;

#[cfg(test)]
mod tests;

pub use comment::{CommentSchema, schema_from_comment};
pub use definitions::kubernetes_definitions;
pub use embedded::kubernetes_version;
pub use field_type::FieldTypes;
pub use kinds::SchemaKind;
pub use merge_strategy::{ListStrategy, MappingStrategy, MergeKeys};
pub use node::ValueKind;
pub use table::TableError;
pub use type_ref::Type;
pub use versions::{kubernetes_versions, table_difference};

use crate::diagnostics::explain::Area;
use embedded::Embedded;
use node::{NodeId, TypeTables};
use type_ref::NodeHandle;

/// The kinds of diagnostics about schemas.
pub(crate) const AREA: Area = Area {
    title: "Schemas",
    ids: &[SchemaKind::IDS],
    text: include_str!("../../explain/schema.md"),
};

/// The known types: those of Kubernetes, and those that were added.
///
/// Added types take precedence over those of Kubernetes, and later ones over earlier ones.
#[derive(Clone, Debug)]
pub struct Schema {
    kubernetes: Option<&'static Embedded>,
    package_files: Option<&'static Embedded>,
    own: TypeTables,
}

impl Schema {
    /// A schema with the built-in kinds of the Kubernetes version [`kubernetes_version`].
    pub fn kubernetes() -> Self {
        Self { kubernetes: Some(Embedded::get()), ..Self::empty() }
    }

    /// The same, and the kinds of files that describe packages: Kptfile, Krmfile, Kustomization and Component.
    pub fn built_in() -> Self {
        Self { package_files: Some(Embedded::package_files()), ..Self::kubernetes() }
    }

    /// A schema without types.
    pub fn empty() -> Self {
        Self { kubernetes: None, package_files: None, own: TypeTables::new() }
    }

    /// The type of a resource, if it is known.
    pub fn resource_type(&self, api_version: &str, kind: &str) -> Option<Type<'_>> {
        let own = self.own.kind(api_version, kind).map(|id| self.own_handle(id));
        let mut embedded = self.embedded();
        let handle = own.or_else(|| embedded.find_map(|table| table.kind(api_version, kind)));
        handle.map(|handle| Type::new(self, handle))
    }

    fn embedded(&self) -> impl Iterator<Item = &Embedded> {
        self.kubernetes.into_iter().chain(self.package_files)
    }

    /// The known kinds as `apiVersion` and `kind`: first the added ones, then those that are built in, each sorted.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.own.kinds.iter().flat_map(|(api_version, kinds)| {
            kinds.keys().map(|kind| (api_version.as_str(), kind.as_str()))
        });
        own.chain(self.embedded().flat_map(Embedded::kinds))
    }

    /// The type of the definition with this full name, such as `io.k8s.api.core.v1.Container`.
    pub fn definition(&self, name: &str) -> Option<Type<'_>> {
        self.lookup(false, name).map(|handle| Type::new(self, handle))
    }

    fn own_handle(&self, id: NodeId) -> NodeHandle<'_> {
        NodeHandle { nodes: &self.own.nodes, id, is_embedded: false }
    }

    /// The definition that a reference names. Types of the embedded table refer only to each other, by short names.
    fn lookup(&self, from_embedded: bool, name: &str) -> Option<NodeHandle<'_>> {
        if from_embedded {
            return self.embedded().find_map(|table| table.definition(name));
        }
        let own = self.own.definitions.get(name).map(|id| self.own_handle(*id));
        own.or_else(|| self.embedded().find_map(|table| table.by_full_name(name)))
    }
}
