//! A file of positions beside the embedded sample.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foxhunt_fuzz::run("positions", bytes));
