//! Fuzz target: a function that serializes a resource again changes nothing, and one that changes a field only that field.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::answer(data));
