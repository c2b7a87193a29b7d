//! Fuzz target: an edit has the requested result.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::edit_is_read_back(data));
