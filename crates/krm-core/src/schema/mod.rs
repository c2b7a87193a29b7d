//! Schemas: what Kubernetes' own kinds, custom resources and OpenAPI documents say about lists, fields and values.
//!
//! A [`Schema`] is a value. Every merge gets the one that it goes by; nothing is remembered between two of them.

mod comment;
mod crd;
mod embedded;
mod json_schema;
mod node;
mod openapi;
mod rules;
mod table;
mod table_text;
mod types;
mod words;

#[cfg(test)]
mod tests;

pub use comment::{Commented, in_comment};
pub use embedded::kubernetes_version;
pub use node::Shape;
pub use rules::{Keys, ListRule, MappingRule};
pub use table::TableError;
pub use types::Type;

use embedded::Embedded;
use node::{NodeId, Tables};
use types::Spot;

/// What is known about types: Kubernetes' own, and those that were added.
///
/// What was added counts before Kubernetes' own, and later before earlier.
#[derive(Clone, Debug)]
pub struct Schema {
    kubernetes: Option<&'static Embedded>,
    own: Tables,
}

impl Schema {
    /// Knows Kubernetes' own kinds, of the version that [`kubernetes_version`] names.
    pub fn kubernetes() -> Self {
        Self { kubernetes: Some(Embedded::get()), own: Tables::new() }
    }

    /// Knows nothing.
    pub fn empty() -> Self {
        Self { kubernetes: None, own: Tables::new() }
    }

    /// The type of a resource; none where nobody has said what it is.
    pub fn of_resource(&self, api_version: &str, kind: &str) -> Option<Type<'_>> {
        let own = self.own.kind(api_version, kind).map(|id| self.own_spot(id));
        let spot = own.or_else(|| self.kubernetes?.kind(api_version, kind));
        spot.map(|spot| Type::new(self, spot))
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
        self.lookup(false, name).map(|spot| Type::new(self, spot))
    }

    fn own_spot(&self, id: NodeId) -> Spot<'_> {
        Spot { nodes: &self.own.nodes, id, is_embedded: false }
    }

    /// The definition that is meant by a name; those of the embedded table name only each other, and in short.
    fn lookup(&self, from_embedded: bool, name: &str) -> Option<Spot<'_>> {
        if from_embedded {
            return self.kubernetes?.definition(name);
        }
        let own = self.own.definitions.get(name).map(|id| self.own_spot(*id));
        own.or_else(|| self.kubernetes?.by_full_name(name))
    }
}
