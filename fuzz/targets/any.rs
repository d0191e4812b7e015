//! The target that the environment names, so that one program can be carried to where all are fuzzed.

#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<String> = LazyLock::new(|| std::env::var("FUZZ_TARGET").unwrap_or_default());

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foxhunt_fuzz::run(&TARGET, bytes));
