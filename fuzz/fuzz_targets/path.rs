//! Fuzz target: paths can be parsed and printed.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::path(data));
