//! Fuzz target: three-way merges have the properties of merges.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::merge3(data));
