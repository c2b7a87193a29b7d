//! Which elements of two or three versions of a sequence belong together.
//!
//! There are four ways, because there are four sources of knowledge:
//! - [`list_type`] finds the merge keys of a list, and [`Elements`] pairs by them: elements of an associative list or a set are
//!   identified by their merge keys or by value. Merge and diff use it.
//! - [`align_elements`]: for diffs. An atomic list has no identity, so equal elements are aligned and the rest pairs by position.
//! - [`pair_by_content`]: for merges of atomic lists. Changed elements pair only where they resemble each other.
//! - [`pair_returned`]: for function output. A function has no schema to go by and may reorder, so keys, content and neighbours count.

mod align_by_content;
mod duplicates;
mod merge_keys;
mod pair_by_key;
mod removed_keys;
mod returned;
mod similar_elements;

pub(crate) use align_by_content::align_elements;
pub(crate) use duplicates::align_duplicates;
pub(crate) use merge_keys::{KeyField, ListType, list_type};
pub(crate) use pair_by_key::{ElementId, Elements};
pub(crate) use returned::pair_returned;
pub(crate) use similar_elements::pair_by_content;
