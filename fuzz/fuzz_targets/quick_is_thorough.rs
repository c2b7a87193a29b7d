//! Fuzz target: the fast parser agrees with the complete parser.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::quick_is_thorough(data));
