//! The integration tests of `krm-core`: properties of generated resources, and cases.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod changed_texts;
mod corpora;
mod examples;
mod format;
mod formatting;
mod kubernetes_reader;
mod limits;
mod merge_properties;
mod merging;
mod output_cases;
mod output_properties;
#[allow(dead_code, reason = "the tests of krm-yaml use more of it")]
#[path = "../../../krm-yaml/tests/suite/properties/mod.rs"]
mod properties;
mod reprint;
#[allow(dead_code, reason = "the tests of krm-yaml use more of it")]
#[path = "../../../krm-yaml/tests/suite/runner.rs"]
mod runner;
mod schema;
mod schemas;
