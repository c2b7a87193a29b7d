//! Fuzz target: references in comments, the fields that have them, and patterns.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::reference(data));
