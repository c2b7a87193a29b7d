//! Fuzz target: reading agrees with the front end.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::same_meaning(data));
