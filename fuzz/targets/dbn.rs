//! Databento DBN of each version: the first byte chooses it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foxhunt_fuzz::run("dbn", bytes));
