//! Searching documents: the conditions of `grep`, path selectors, duplicate keys, YAML 1.1 scalars and missing paths.
//!
//! Nothing here changes a document.

mod conditions;
mod duplicate_keys;
mod kinds;
mod missing_path;
mod selector;
mod yaml11;

pub use conditions::{Query, split_assignment};
pub use duplicate_keys::{DuplicateKey, find as duplicate_keys};
pub use kinds::{ExistingPath, QueryError, QueryKind, ScalarReading};
pub use missing_path::MissingPath;
pub use selector::Selector;
pub use yaml11::{find as yaml11_scalars, warning as yaml11_warning};

use crate::diagnostics::explain::Area;

/// The kinds of diagnostics about queries and checks.
pub(crate) const AREA: Area = Area {
    title: "Queries and checks",
    ids: &[QueryError::IDS, QueryKind::IDS],
    text: include_str!("../../explain/query.md"),
};
