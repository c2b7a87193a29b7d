//! Fuzz target: parsing agrees with the underlying parser.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::same_meaning(data));
