//! Fuzz target: an edit is read back as it was asked for.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::edit_is_read_back(data));
