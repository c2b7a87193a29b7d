//! Fuzz target: a two-way merge is valid and stable.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::merge2(data));
