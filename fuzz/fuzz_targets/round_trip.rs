//! Fuzz target: parsing and writing keeps all bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::round_trip(data));
