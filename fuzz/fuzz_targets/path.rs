//! Fuzz target: paths and patterns can be parsed, printed and found.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::path(data));
