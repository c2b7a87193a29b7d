//! Comparing: whether two nodes are equal, and which resources, fields, elements and comments of several versions belong together.
//!
//! Diff, merge and function output share this code, so that they agree about what is a change. Where they differ on purpose, a
//! parameter says so: see `Equality` and `sequences`. Nothing here edits or reports.

mod comments;
mod documents;
mod equality;
mod field_schema;
mod fields;
pub(crate) mod fingerprint;
mod json_style;
mod options;
mod resources;
pub(crate) mod sequences;

pub(crate) use comments::{CommentIndex, CommentedEntry};
pub(crate) use documents::{content_roots, document_roots, pair_documents};
pub use equality::equal_in_yaml_1_2;
pub(crate) use equality::{
    Equality, ResourceLevel, ScalarComparison, canonical_scalar, compare_returned, custom_tag,
    fields_as_sent, has_lost_digits, has_new_tag, is_equal, is_equal_option, is_ignorable_addition,
    is_ignorable_removal, scalars_equal,
};
pub(crate) use field_schema::{FieldSchema, MapStrategy};
pub(crate) use fields::{Field, Fields, key_name, share_merge_keys};
pub(crate) use json_style::is_json_document;
pub use options::{AtomicLists, ListKeys, ListOptions};
pub(crate) use resources::{PairedBy, PairedResource, Renames, ResourcePairing};
