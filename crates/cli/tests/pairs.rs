//! Runs with weights as pairs, as they are in BF16 if nothing is said, and with single words that draw actions from a softmax, from the
//! command line: killed and gone on with; pairs also backtested, and refused where they make no sense.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{TINY, assert_same, command, files, foxhunt, train};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The options of [`TINY`] without its epochs, four epochs, and these.
fn options(more: &'static str) -> Vec<&'static str> {
    let tiny = TINY.iter().copied().filter(|o| !["--epochs", "2"].contains(o));
    let epochs = "--dtype bf16 --population 2 --epochs 4 --save-every 0".split_whitespace();
    tiny.chain(epochs).chain(more.split_whitespace()).collect()
}

fn saves(run: &Path) -> usize {
    let Ok(epochs) = fs::read_dir(run.join("checkpoints")) else { return 0 };
    epochs.flatten().filter(|e| e.path().join("save.json").exists()).count()
}

type Files = BTreeMap<String, Vec<u8>>;

/// Holds a run that was killed and gone on with against one that was not, `whole` in the folder; what the kill left, and what
/// `whole` holds.
fn killed_and_whole(more: &'static str) -> (TempDir, Files, Files) {
    let folder = tempfile::tempdir().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let start = |out: &str| {
        let mut c = command(folder.path());
        c.arg("train").args(options(more)).args(["--out", out]).stdout(Stdio::null()).stderr(Stdio::null());
        c
    };
    assert!(start("whole").status().unwrap().success());
    let mut child = start("killed").spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    while saves(&killed) == 0 && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "no save");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = files(&killed);
    assert!(!left.contains_key("finished.json"), "the kill came too late");
    let resumed = command(folder.path())
        .args(["train", "--device", "cpu", "--save-every", "0", "--resume", "killed"])
        .output()
        .unwrap();
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    let want = files(&whole);
    assert_same(&killed, &want, "after a kill");
    (folder, left, want)
}

/// A state without the low words would go on with weights of another value. Weights have none: what acts reads the high words.
#[test]
fn a_killed_run_ends_with_the_bytes_of_one_that_was_not() {
    // Pairs are the default in BF16.
    let (folder, left, want) = killed_and_whole("");
    let config = String::from_utf8(want["config.toml"].clone()).unwrap();
    assert!(config.contains("weights = \"paired\""), "what was resolved is recorded: {config}");
    let holds = |bytes: &[u8], word: &str| bytes.windows(word.len()).any(|w| w == word.as_bytes());
    let state = left.iter().find(|(name, _)| name.ends_with("state.safetensors")).unwrap().1;
    assert!(holds(state, "\"q.weight_low\"") && holds(state, "\"q.target_low\""));
    let weights = want.iter().find(|(name, _)| name.ends_with("member_000001.safetensors")).unwrap().1;
    assert!(holds(weights, "\"w_s1\"") && !holds(weights, ".lo\""), "the high words alone");

    let shown = foxhunt(folder.path(), "runs show whole").works().out;
    assert!(shown.contains("bf16 with paired weights") && !shown.contains("learn.weights"), "{shown}");

    // The policy reads the high words: the ledger comes out again.
    foxhunt(folder.path(), "backtest whole --device cpu --out again").works();
    for file in ["ledger/bars.parquet", "ledger/fills.parquet"] {
        assert!(fs::read(folder.path().join("again").join(file)).unwrap() == want[file], "{file}");
    }
}

#[test]
fn a_killed_run_that_draws_from_a_softmax_ends_with_the_bytes_of_one_that_was_not() {
    let (_folder, left, want) =
        killed_and_whole("--weights plain --set learn.explore=boltzmann --set learn.explore_epochs=2");
    // Gone on with as it began, and not by the default.
    let config = String::from_utf8(left["config.toml"].clone()).unwrap();
    assert!(config.contains("weights = \"plain\""), "{config}");
    let holds_low = |bytes: &[u8]| bytes.windows(5).any(|w| w == b"_low\"");
    assert!(!left.iter().any(|(name, bytes)| name.ends_with("state.safetensors") && holds_low(bytes)));
    let metrics = String::from_utf8(want["metrics.jsonl"].clone()).unwrap();
    let temperatures: Vec<f64> = metrics
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["temperature"].as_f64().unwrap())
        .collect();
    assert_eq!((temperatures.len(), temperatures[0]), (8, 0.5025));
    assert!((temperatures[7] - 0.005).abs() < 1e-9);
    let page = String::from_utf8(want["report.html"].clone()).unwrap();
    assert!(page.contains("Temperature of actions") && !page.contains("Share of random actions"));
}

#[test]
fn choices_that_change_nothing_are_said() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), "--weights paired --out run").fails(3, &["learn.weights", "train in bf16"]);
    train(folder.path(), "--dtype bf16 --weights paired --rounding nearest-v --out run")
        .fails(3, &["learn.rounding", "nearest-v", "set learn.weights to plain or auto"]);
    assert!(files(folder.path()).is_empty());
    foxhunt(folder.path(), "train --weights wide").fails(2, &["auto, plain or paired"]);
    foxhunt(folder.path(), "train --rounding up").fails(2, &["stochastic, nearest, nearest-weights"]);
    foxhunt(folder.path(), "train --resume x --weights paired").fails(2, &["--weights"]);
    let done = train(folder.path(), "--rounding nearest --out run");
    assert!(done.code == 0 && done.err.contains("changes nothing in f32"), "{}", done.err);
    let config = fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert!(config.contains("rounding = \"nearest\"") && config.contains("weights = \"plain\""), "{config}");
}
