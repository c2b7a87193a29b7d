//! The one test binary of `krm-core`: laws on generated resources.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answer_laws;
mod answering;
mod answers;
mod corpora;
mod format;
mod formatting;
mod merge_laws;
mod merging;
#[allow(dead_code, reason = "the tests of krm-yaml use more of it")]
#[path = "../../../krm-yaml/tests/suite/properties/mod.rs"]
mod properties;
#[allow(dead_code, reason = "the tests of krm-yaml use more of it")]
#[path = "../../../krm-yaml/tests/suite/runner.rs"]
mod runner;
mod schema;
mod schemas;
