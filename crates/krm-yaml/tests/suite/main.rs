//! The test binary of `krm-yaml`.

mod actions;
mod cases;
mod combined_changes;
mod conformance;
mod examples;
mod fast_parser;
mod hostile;
mod kubernetes_reader;
mod owned_nodes;
mod plain_swap;
mod properties;
mod property_tests;
mod refusals;
mod runner;
mod same_text;
