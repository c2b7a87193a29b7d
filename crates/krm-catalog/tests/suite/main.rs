//! The test binary of `krm-catalog`: cases, documentation examples, invariants and corpora.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod cases;
mod corpora;
mod documents;
mod examples;
mod invariants;
mod pages;
mod recorded;
mod run;
mod setters;
#[cfg(feature = "starlark")]
mod starlark_expressions;
