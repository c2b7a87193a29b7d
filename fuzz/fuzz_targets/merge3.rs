//! Fuzz target: the laws of three-way merges hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::merge3(data));
