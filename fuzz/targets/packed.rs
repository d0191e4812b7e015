//! Packings: the first byte chooses one.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let starts: [&[u8]; 4] = [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xff\xfe"];
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    foxhunt_fuzz::check(starts[usize::from(*first) % 4], rest);
});
