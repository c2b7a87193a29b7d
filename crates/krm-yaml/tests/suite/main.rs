//! The one test binary of `krm-yaml`.

mod conformance;
