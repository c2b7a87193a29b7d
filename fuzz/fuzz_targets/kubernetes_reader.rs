//! Fuzz target: Kubernetes' own reader reads what krm reads, before and after an edit.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| krm_fuzz::kubernetes_reader(data));
