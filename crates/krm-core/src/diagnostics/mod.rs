//! Errors, warnings and infos: their kinds, their source locations, and the masking of Secret values in them.
//!
//! What a diagnostic says is defined here; how it is printed is up to the command line.

pub mod diagnostic;
pub mod explain;
pub mod kind;
pub mod secrets;
pub mod suggest;
