//! JSON.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foxhunt_fuzz::run("json", bytes));
