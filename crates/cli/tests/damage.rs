//! Files of a run that changed behind its back: nothing is traded with them, and nothing built on them.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{finished, foxhunt};
use std::{fs, path::Path};

/// One bit of the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn weights_that_changed_are_not_traded_with() {
    let (folder, run) = finished();
    let selection: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(run.join("selection.json")).unwrap()).unwrap();
    let epoch = selection[0]["epoch"].as_u64().unwrap();
    let weights = run.join(format!("checkpoints/epoch_{epoch:06}/member_000000.safetensors"));
    let whole = fs::read(&weights).unwrap();
    flip(&weights);
    for command in ["act run --device cpu", "backtest run --device cpu --out again"] {
        foxhunt(folder.path(), command).fails(3, &["member_000000.safetensors", "not as they were written"]);
    }
    assert!(!folder.path().join("again").exists());
    fs::write(&weights, whole).unwrap();
    foxhunt(folder.path(), "act run --device cpu").works();
}

#[test]
fn a_configuration_that_changed_is_no_runs() {
    let (folder, run) = finished();
    let config = run.join("config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("leverage = 1.0", "leverage = 5.0")).unwrap();
    assert_ne!(fs::read_to_string(&config).unwrap(), text);
    for command in ["act run --device cpu", "backtest run --device cpu --out again"] {
        foxhunt(folder.path(), command).fails(1, &["config.toml", "changed since the run was made"]);
    }
}

/// The choice is among all epochs: without one it would be another run's.
#[test]
fn a_run_does_not_go_on_without_an_epochs_weights() {
    let (folder, run) = finished();
    for file in ["finished.json", "selection.json"] {
        fs::remove_file(run.join(file)).unwrap();
    }
    let first = run.join("checkpoints/epoch_000001");
    let (marker, weights) = (first.join("save.json"), first.join("member_000000.safetensors"));
    let whole = [fs::read(&marker).unwrap(), fs::read(&weights).unwrap()];
    let resume = "train --resume run --device cpu";

    flip(&weights);
    foxhunt(folder.path(), resume).fails(3, &["member_000000.safetensors", "not as they were written"]);

    fs::remove_dir_all(&first).unwrap();
    foxhunt(folder.path(), resume).fails(3, &["the weights of epoch 1 are gone or damaged", "from a copy"]);

    fs::create_dir(&first).unwrap();
    fs::write(&marker, &whole[0]).unwrap();
    fs::write(&weights, &whole[1]).unwrap();
    foxhunt(folder.path(), resume).works();
}

#[test]
fn how_files_are_read_needs_a_file() {
    let folder = tempfile::tempdir().unwrap();
    foxhunt(folder.path(), "train --instrument BTC/USD --device cpu --out run")
        .fails(3, &["data.instrument", "no file is named"]);
    assert!(!folder.path().join("run").exists());
}

/// Of a run's instrument where nothing else tells one.
#[test]
fn bars_of_any_name_are_of_the_runs_instrument() {
    let (folder, _) = finished();
    fs::copy(folder.path().join("eurusd.csv"), folder.path().join("today.csv")).unwrap();
    let shown = foxhunt(folder.path(), "act run --data today.csv --device cpu").works().out;
    assert!(shown.starts_with("EUR/USD"), "{shown}");
}
