//! Fuzz target: any document can be read and queried as a schema.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::schema(data));
