//! Fuzz target: a two-way merge is stable, and its result can be read.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::merge2(data));
