//! Fuzz target: an edit leaves the bytes of others alone.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::untouched_stays(data));
