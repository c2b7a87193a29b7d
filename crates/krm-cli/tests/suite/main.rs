//! Tests of the krm binary: cases, examples in the documentation, and tests that control processes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod cases;
mod changed_packages;
mod charts;
mod completion_and_man;
mod containers;
mod corpora;
mod disk_errors;
mod doc_pages;
mod file_safety;
mod functions;
mod git;
mod hostile_names;
mod integrations;
mod interrupted_writes;
mod isolation;
mod kpt_differences;
mod krmignore;
mod large_edits;
mod package_properties;
mod peak_memory;
mod pkg;
mod processes;
mod progress;
mod project_images;
mod projects;
mod render_index;
mod report_formats;
mod report_page;
mod result_cache;
mod sandbox;
mod sdk_examples;
#[cfg(feature = "grpc")]
mod serve;
mod shared_cache;
mod shell_completion;
mod wasm;
