//! Fuzz target: any document can be read as a schema and asked.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::schema(data));
