//! Fuzz target: a function that prints a resource anew changes nothing of it, and one that changes a field only that field.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::answer(data));
