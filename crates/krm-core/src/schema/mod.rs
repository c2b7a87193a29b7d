//! Schemas: what Kubernetes' own kinds, custom resources and OpenAPI documents say about lists, fields and values.
//!
//! A [`Schema`] is a value. Every merge gets the one that it goes by; nothing is remembered between two of them.

mod comment;
mod crd;
mod embedded;
mod json_schema;
mod keywords;
mod merge_strategy;
mod node;
mod openapi;
mod table;
mod table_writer;
mod type_ref;

#[cfg(test)]
mod tests;

pub use comment::{CommentSchema, schema_from_comment};
pub use embedded::kubernetes_version;
pub use merge_strategy::{ListStrategy, MappingStrategy, MergeKeys};
pub use node::ValueKind;
pub use table::TableError;
pub use type_ref::Type;

use embedded::Embedded;
use node::{NodeId, TypeTables};
use type_ref::NodeHandle;

/// What is known about types: Kubernetes' own, and those that were added.
///
/// What was added counts before Kubernetes' own, and later before earlier.
#[derive(Clone, Debug)]
pub struct Schema {
    kubernetes: Option<&'static Embedded>,
    own: TypeTables,
}

impl Schema {
    /// Knows Kubernetes' own kinds, of the version that [`kubernetes_version`] names.
    pub fn kubernetes() -> Self {
        Self { kubernetes: Some(Embedded::get()), own: TypeTables::new() }
    }

    /// Knows nothing.
    pub fn empty() -> Self {
        Self { kubernetes: None, own: TypeTables::new() }
    }

    /// The type of a resource; none where nobody has said what it is.
    pub fn resource_type(&self, api_version: &str, kind: &str) -> Option<Type<'_>> {
        let own = self.own.kind(api_version, kind).map(|id| self.own_handle(id));
        let handle = own.or_else(|| self.kubernetes?.kind(api_version, kind));
        handle.map(|handle| Type::new(self, handle))
    }

    /// The kinds that are known, as `apiVersion` and `kind`: first those that were added, each part sorted.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.own.kinds.iter().flat_map(|(api_version, kinds)| {
            kinds.keys().map(|kind| (api_version.as_str(), kind.as_str()))
        });
        own.chain(self.kubernetes.into_iter().flat_map(Embedded::kinds))
    }

    /// The type that a definition has, by its full name: `io.k8s.api.core.v1.Container`.
    pub fn definition(&self, name: &str) -> Option<Type<'_>> {
        self.lookup(false, name).map(|handle| Type::new(self, handle))
    }

    fn own_handle(&self, id: NodeId) -> NodeHandle<'_> {
        NodeHandle { nodes: &self.own.nodes, id, is_embedded: false }
    }

    /// The definition that is meant by a name; those of the embedded table name only each other, and in short.
    fn lookup(&self, from_embedded: bool, name: &str) -> Option<NodeHandle<'_>> {
        if from_embedded {
            return self.kubernetes?.definition(name);
        }
        let own = self.own.definitions.get(name).map(|id| self.own_handle(*id));
        own.or_else(|| self.kubernetes?.by_full_name(name))
    }
}
