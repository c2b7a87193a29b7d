//! Text and JSON that commands print about resources: cat, tree, count, list output.
//!
//! Diagnostics are not printed here.

pub mod cat;
mod count;
pub mod json;
mod kinds;
mod list_output;
pub(crate) mod list_wrapper;
mod one_line;
pub mod source_text;
pub mod tree;
mod visible;

pub use count::count_by_kind;
pub use kinds::PrintKind;
pub(crate) use list_output::is_plain_scalar;
pub use list_output::{Record, records_to_json, records_to_yaml};
pub use list_wrapper::ListWrapper;
pub use one_line::one_line;
pub(crate) use visible::visible_range;
pub use visible::{log_line, log_text, visible_line, visible_lines, without_commands};

use crate::diagnostics::explain::Area;

/// The kinds of diagnostics about printed resources.
pub(crate) const AREA: Area = Area {
    title: "Printed resources",
    ids: &[PrintKind::IDS],
    text: include_str!("../../explain/print.md"),
};
