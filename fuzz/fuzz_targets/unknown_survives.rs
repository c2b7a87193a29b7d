//! Fuzz target: an edit keeps what it does not understand.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::unknown_survives(data));
