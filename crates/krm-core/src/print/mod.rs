//! Text and JSON that commands print about resources: cat, tree, count, list output.
//!
//! Diagnostics are not printed here.

pub mod cat;
pub mod count;
pub mod json;
pub mod list_output;
pub mod list_wrapper;
pub mod one_line;
pub mod source_text;
pub mod tree;
