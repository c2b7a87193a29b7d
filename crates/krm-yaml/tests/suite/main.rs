//! The one test binary of `krm-yaml`.

mod actions;
mod cases;
mod conformance;
