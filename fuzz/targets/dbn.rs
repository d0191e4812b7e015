//! Databento DBN of each version: the first byte chooses it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    foxhunt_fuzz::check(&[b'D', b'B', b'N', 1 + first % 3], rest);
});
