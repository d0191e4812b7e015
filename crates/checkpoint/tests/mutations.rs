//! No bytes make a reader panic, and what is refused names the file.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::{Random, population};
use foxhunt_checkpoint::{apply, load_state, load_weights, save_state, save_weights};
use foxhunt_core::DType;
use serde_json::json;
use std::fs;

/// Pieces that readers of headers trip over.
const PIECES: [&str; 14] = [
    "",
    "{",
    "}",
    "\"",
    "[",
    ",",
    "-1",
    "18446744073709551615",
    "9223372036854775807",
    "0",
    "1e400",
    "\"F4\"",
    "\"F64\"",
    "\u{0}",
];

fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let header = 8 + usize::from(bytes[0]) + 256 * usize::from(bytes[1]);
    for _ in 0..=random.below(3) {
        // Mostly the header: the rest is data, of which every byte is one.
        let most = if random.below(4) == 0 { out.len() } else { header.min(out.len()) };
        let at = random.below(most);
        match random.below(5) {
            0 => out.truncate(at),
            1 if !out.is_empty() => out[at] ^= 1 << random.below(8),
            2 if !out.is_empty() => out[at] = b"0123456789[]{},:\""[random.below(17)],
            3 => {
                let piece = PIECES[random.below(PIECES.len())];
                let end = (at + random.below(12)).min(out.len());
                out.splice(at..end, piece.bytes());
                // With a length that fits again, so that the header is read.
                if random.below(2) == 0 && out.len() > 8 {
                    let length = (header - 8 + piece.len()).saturating_sub(end - at) as u64;
                    out[..8].copy_from_slice(&length.to_le_bytes());
                }
            }
            _ => {
                let (from, to) = (random.below(out.len()), random.below(out.len()));
                let piece = out[from.min(to)..(from.max(to)).min(from.min(to) + 40)].to_vec();
                out.splice(at..at, piece);
            }
        }
    }
    out
}

#[test]
fn mutated_files_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.safetensors");
    let (runtime, net) = population(DType::Bf16, &[1, 2], 0.0);
    let tensors = [net.m, net.v];
    save_weights(&runtime, &net, 0, &path).unwrap();
    let weights = fs::read(&path).unwrap();
    save_state(&path, &runtime, &tensors, &json!({ "epoch": 3 })).unwrap();
    let state = fs::read(&path).unwrap();
    let mut refused = 0;
    for case in 0..2000 {
        let mut random = Random(case);
        let of_weights = case % 2 == 0;
        fs::write(&path, mutate(if of_weights { &weights } else { &state }, &mut random)).unwrap();
        let result = if of_weights {
            load_weights(&path).and_then(|w| apply(&runtime, &net, 1, &w))
        } else {
            load_state(&path, &runtime, &tensors).map(|_| ())
        };
        if let Err(e) = result {
            refused += 1;
            assert!(e.to_string().contains("mine.safetensors"), "case {case}: {e}");
        }
    }
    assert!(refused > 1500, "{refused}");
}
