//! Searching documents: the conditions of `grep`, path selectors, duplicate keys, YAML 1.1 scalars and missing paths.
//!
//! Nothing here changes a document.

mod conditions;
mod duplicate_keys;
mod missing_path;
mod selector;
mod yaml11;

pub use conditions::Query;
pub use duplicate_keys::{DuplicateKey, find as duplicate_keys};
pub use missing_path::MissingPath;
pub use selector::{QueryError, Selector};
pub use yaml11::{find as yaml11_scalars, warning as yaml11_warning};
