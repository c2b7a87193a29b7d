//! Scalars: decoding, type resolution and writing.

mod decode;
mod json;
mod resolve;
mod write;

pub(crate) use decode::{decode, lines};
pub(crate) use json::json_scalar;
pub use resolve::ScalarType;
pub(crate) use resolve::{resolve, resolve_1_1, resolve_tagged};
pub use write::write_double_quoted;
pub(crate) use write::{
    BlockScalarIndent, ScalarContext, is_plain, is_printable, write_plain_or_quoted, write_scalar,
};
