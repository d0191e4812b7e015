//! Delimited text, and whatever else the first bytes say.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foxhunt_fuzz::run("text", bytes));
