//! A run that is killed at random moments, and gone on with, ends with the same bytes as one that never was.
//!
//! `cargo xtask soak` runs this with 200 kills; the test suite with five.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{assert_same, files};
use foxhunt_core::rng::philox;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// A small run: six epochs of which each saves its full state.
const OPTIONS: [&str; 14] = [
    "--device",
    "cpu",
    "--save-every",
    "0",
    "--population",
    "2",
    "--epochs",
    "6",
    "--set",
    "learn.collect=1024",
    "--set",
    "learn.updates=24",
    "--set",
    "learn.replay=4096",
];

fn foxhunt(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foxhunt"));
    command.args(args).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn start(out: &Path) -> Command {
    let mut command = foxhunt(&["train"]);
    command.args(OPTIONS).arg("--out").arg(out);
    command
}

fn resume(out: &Path) -> Command {
    let mut command = foxhunt(&["train", "--device", "cpu", "--save-every", "0", "--resume"]);
    command.arg(out);
    command
}

#[test]
fn killed_runs_end_with_the_bytes_of_one_that_was_not() {
    let kills: u32 = std::env::var("FOXHUNT_SOAK_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let began = Instant::now();
    assert!(start(&whole).status().unwrap().success());
    let time = began.elapsed();
    let want = files(&whole);
    assert!(want.contains_key("report.html") && want.contains_key("metrics.jsonl"));

    let (mut done, mut runs) = (0, 0);
    // Files and bytes that a kill left: kills that all came at one place would show one.
    let mut places = BTreeSet::new();
    while done < kills {
        runs += 1;
        let out = folder.path().join(format!("killed-{runs}"));
        loop {
            // A run that was killed before it made its folder is begun again.
            let mut command = if out.join("run.json").exists() { resume(&out) } else { start(&out) };
            let mut child = command.spawn().unwrap();
            let [a, b, ..] =
                philox([done, runs, 0, 0], [0x50a4, 0]).map(|w| f64::from(w) / f64::from(u32::MAX));
            // Mostly early, so that a run takes several kills, and at times as late as a whole run: what follows the
            // last epoch is done anew each time and needs a stretch without a kill to come to its end.
            let wait = time.mul_f64(a * b).max(Duration::from_millis(5));
            let until = Instant::now() + wait;
            let ended = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break Some(status);
                }
                if done < kills && Instant::now() >= until {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    done += 1;
                    let left = if out.exists() { files(&out) } else { BTreeMap::new() };
                    places.insert((left.len(), left.values().map(Vec::len).sum::<usize>()));
                    break None;
                }
                std::thread::sleep(Duration::from_millis(2));
            };
            if let Some(status) = ended {
                let output = child.wait_with_output().unwrap();
                assert!(status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                break;
            }
        }
        assert_same(&out, &want, &format!("run {runs} after {done} kills"));
    }
    // Going on with a finished run changes nothing and is no error.
    assert!(resume(&whole).status().unwrap().success());
    assert_same(&whole, &want, "a finished run gone on with");
    assert!(places.len() > 1, "{done} kills over {runs} runs all left the same: {places:?}");
    println!("{done} kills over {runs} runs of {:.1} s: no byte changed", time.as_secs_f64());
}
