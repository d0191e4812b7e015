//! Packings (gzip, zstd, zip, UTF-16): the first byte chooses one.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foxhunt_fuzz::run("packed", bytes));
