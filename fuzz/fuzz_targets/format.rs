//! Fuzz target: formatting keeps everything but the order, and is idempotent.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::format(data));
