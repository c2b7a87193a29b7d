//! Fuzz target: setter references in comments, their fields, and patterns.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::reference(data));
