//! Finding things in documents: conditions of `grep`, path selectors, duplicate keys, YAML 1.1 scalars, missing paths.
//!
//! Nothing here changes a document.

pub mod conditions;
pub mod duplicate_keys;
pub mod missing_path;
pub mod selector;
pub mod yaml11;
