//! Fuzz target: an edit keeps the bytes of other entries.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::untouched_stays(data));
