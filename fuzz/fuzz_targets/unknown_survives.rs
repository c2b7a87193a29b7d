//! Fuzz target: an edit keeps comments, anchors, tags and directives.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::unknown_survives(data));
