//! The fuzzer's corpus once more, and small changes of each of its files, the same at every run.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{fs, path::Path};

#[allow(unreachable_pub, reason = "the fuzzer's own library")]
#[path = "../../../fuzz/check.rs"]
mod check;

/// Changed copies of each file.
const CHANGES: u64 = 20;

/// A copy with up to four bytes changed, cut or doubled; a function of the number alone (SplitMix64).
fn changed(bytes: &[u8], number: u64) -> Vec<u8> {
    let mut state = number;
    let mut below = |n: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    };
    let mut out = bytes.to_vec();
    for _ in 0..=below(4) {
        let at = below(out.len());
        let end = (at + below(16)).min(out.len());
        match below(4) {
            0 => drop(out.drain(at..end)),
            1 => drop(out.splice(at..at, out[at..end].to_vec())),
            _ if at < out.len() => out[at] = below(256) as u8,
            _ => {}
        }
    }
    out
}

#[test]
fn what_the_fuzzer_kept_is_refused_or_sound_changed_or_not() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut bytes_in_all = 0;
    for target in check::TARGETS {
        let folder = corpus.join(target);
        let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{target} has no seed");
        for file in files {
            let bytes = fs::read(&file).unwrap();
            bytes_in_all += bytes.len();
            check::run(target, &bytes);
            (0..CHANGES).for_each(|number| check::run(target, &changed(&bytes, number)));
        }
    }
    assert!(bytes_in_all < 1_000_000, "the corpus has grown to {bytes_in_all} bytes: minimise it");
}
