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

#[cfg(test)]
mod tests;

pub use comment::{Commented, in_comment};
pub use embedded::kubernetes_version;
pub use node::Shape;
pub use rules::{Keys, ListRule, MappingRule};
pub use table::TableError;
pub use types::Type;

use node::Tables;
use types::Spot;

/// What is known about types: Kubernetes' own, and those that were added.
///
/// What was added counts before Kubernetes' own, and later before earlier.
#[derive(Clone, Debug)]
pub struct Schema {
    kubernetes: Option<&'static Tables>,
    own: Tables,
}

impl Schema {
    /// Knows Kubernetes' own kinds, of the version that [`kubernetes_version`] names.
    pub fn kubernetes() -> Self {
        Self { kubernetes: Some(embedded::tables()), own: Tables::new() }
    }

    /// Knows nothing.
    pub fn empty() -> Self {
        Self { kubernetes: None, own: Tables::new() }
    }

    /// The type of a resource; none where nobody has said what it is.
    pub fn of_resource(&self, api_version: &str, kind: &str) -> Option<Type<'_>> {
        let found = |tables: &'_ Tables| tables.kind(api_version, kind);
        let own = found(&self.own).map(|id| Spot { tables: &self.own, id });
        let spot = own.or_else(|| {
            let tables = self.kubernetes?;
            Some(Spot { tables, id: found(tables)? })
        });
        spot.map(|spot| Type::new(self, spot))
    }

    /// The type that a definition has, by its full name: `io.k8s.api.core.v1.Container`.
    pub fn definition(&self, name: &str) -> Option<Type<'_>> {
        self.lookup(&self.own, name).map(|spot| Type::new(self, spot))
    }

    /// The definition that is meant by a name in these tables.
    fn lookup<'a>(&'a self, from: &'a Tables, name: &str) -> Option<Spot<'a>> {
        if let Some(&id) = from.definitions.get(name) {
            return Some(Spot { tables: from, id });
        }
        // The embedded table names its definitions in short, and only its own.
        let tables = self.kubernetes.filter(|embedded| !std::ptr::eq(*embedded, from))?;
        let (package, name) = name.rsplit_once('.')?;
        let short = format!("{}.{name}", tables.packages.get(package)?);
        Some(Spot { tables, id: *tables.definitions.get(short.as_str())? })
    }
}
