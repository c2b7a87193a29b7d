//! Fuzz target: paths parse and print.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::path(data));
