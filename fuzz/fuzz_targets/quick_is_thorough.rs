//! Fuzz target: what is read without the front end is what the front end says.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::quick_is_thorough(data));
