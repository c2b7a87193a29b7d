//! The one test binary of `krm-yaml`.

mod conformance;
mod laws;
mod properties;
