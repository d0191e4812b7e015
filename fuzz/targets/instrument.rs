//! An instrument's TOML: what is read is valid, and is read back the same.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foxhunt_fuzz::run("instrument", bytes));
