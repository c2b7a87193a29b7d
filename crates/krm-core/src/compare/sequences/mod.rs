//! Which elements of two or three versions of a sequence belong together.
//!
//! There are three ways, because there are three sources of knowledge:
//! - [`Elements`]: an associative list or a set. Elements are identified by their merge keys or by value; merge and diff use it.
//! - [`align_elements`]: for diffs. An atomic list has no identity, so equal elements are aligned and the rest pairs by position.
//! - [`pair_returned`]: for function output. A function has no schema to go by and may reorder, so keys, content and neighbours count.

mod align;
mod elements;
mod list_type;
mod returned;

pub(crate) use align::align_elements;
pub(crate) use elements::{ElementId, Elements};
pub(crate) use list_type::{KeyField, ListType, list_type};
pub(crate) use returned::pair_returned;
