//! Files of a run that changed behind its back: nothing is traded with them, and nothing built on them.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{assert_same, command, files, finished, foxhunt, sample};
use foxhunt_checkpoint::RunFolder;
use std::{fs, path::Path, process::Stdio, time::Duration};

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
    foxhunt(folder.path(), resume).fails(3, &["the weights of epoch 1 are gone or damaged", "from a copy"]);

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

/// A file that grows every day is the usual one. Members need nothing of the bars that they were trained on but what the run keeps.
#[test]
fn members_act_where_their_own_bars_have_grown_or_gone() {
    let (folder, run) = finished();
    let at = folder.path();
    fs::write(at.join("today.csv"), sample(6200)).unwrap();
    let act = "act run --device cpu --data today.csv";
    let want = foxhunt(at, act).works().out;
    let test = |out: &str| foxhunt(at, &format!("backtest run --device cpu --data today.csv --out {out}"));
    test("before").fails(0, &[]);
    fs::copy(at.join("today.csv"), at.join("eurusd.csv")).unwrap();
    foxhunt(at, "act run --device cpu").fails(1, &["eurusd.csv is not the data", "restore that file"]);
    assert_eq!(foxhunt(at, "act run --device cpu --data eurusd.csv").works().out, want);
    fs::remove_file(at.join("eurusd.csv")).unwrap();
    assert_eq!(foxhunt(at, act).works().out, want);
    test("after").fails(0, &[]);
    assert_same(&at.join("after"), &files(&at.join("before")), "a test without the run's own bars");

    let taught = fs::read_to_string(run.join("taught.json")).unwrap();
    fs::write(run.join("taught.json"), taught.replacen("\"bars_per_day\": 1", "\"bars_per_day\": 2", 1))
        .unwrap();
    foxhunt(at, act).fails(3, &["taught.json is damaged", "restore it from a copy"]);
    // A run of an earlier version has none, and is read with its bars.
    fs::remove_file(run.join("taught.json")).unwrap();
    foxhunt(at, act).fails(3, &["there is no eurusd.csv"]);
    fs::write(at.join("eurusd.csv"), sample(6000)).unwrap();
    assert_eq!(foxhunt(at, act).works().out, want);
}

/// Whoever removes the choice of a finished run is told one thing, which works: the end is done again, to the same bytes.
#[test]
fn a_finished_run_without_its_choice_is_finished_again() {
    let (folder, run) = finished();
    let want = files(&run);
    fs::remove_file(run.join("selection.json")).unwrap();
    for args in ["backtest run --out x", "act run", "verify leak run"] {
        foxhunt(folder.path(), args).fails(1, &["run has no selection.json", "foxhunt train --resume run"]);
    }
    let again = foxhunt(folder.path(), "train --resume run --device cpu");
    let again = again.fails(0, &["note: run has no selection.json: the end of the run is done again"]);
    assert!(again.out.contains("chosen on the validation window"), "{}", again.out);
    assert_same(&run, &want, "the end done again");
    assert_eq!(foxhunt(folder.path(), "train --resume run").works().out, "run is finished\n");
    // So is one that lost something else that its end wrote.
    for file in ["figures.json", "report.html"] {
        fs::remove_file(run.join(file)).unwrap();
    }
    fs::remove_dir_all(run.join("ledger")).unwrap();
    let listed = foxhunt(folder.path(), "runs list run").works().out;
    assert!(
        listed.contains("figures.json is missing: foxhunt train --resume run makes it again"),
        "{listed}"
    );
    foxhunt(folder.path(), "train --resume run --device cpu")
        .fails(0, &["note: run has no report.html, ledger, figures.json: the end of the run is done again"]);
    assert_same(&run, &want, "pages made again");
    // So is one whose metrics changed.
    fs::write(run.join("metrics.jsonl"), "{\n").unwrap();
    let told = foxhunt(folder.path(), "backtest run --device cpu --out x");
    told.fails(3, &["metrics.jsonl line 1: ", "restore it with foxhunt train --resume run"]);
    foxhunt(folder.path(), "train --resume run --device cpu").fails(0, &["metrics.jsonl is damaged"]);
    assert_same(&run, &want, "metrics restored");
    // Without what the end needs nothing is lost.
    fs::remove_file(run.join("selection.json")).unwrap();
    fs::remove_file(run.join("checkpoints/epoch_000002/state.safetensors")).unwrap();
    foxhunt(folder.path(), "train --resume run --device cpu")
        .fails(3, &["its state is missing", "from a copy"]);
    assert!(run.join("finished.json").exists());
}

/// A bit in the newest state, in the newest weights or in the metrics does not end a run: it goes on from the save before, or with the
/// metrics that a save keeps, says so, and ends with the bytes of one that nothing happened to.
#[test]
fn a_run_goes_on_from_the_save_before_a_damaged_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let options = "train --device cpu --epochs 4 --save-every 0 --set learn.collect=1024 --set learn.updates=8 --set \
                   learn.replay=2048 --out";
    foxhunt(at, &format!("{options} whole")).works();
    let want = files(&at.join("whole"));
    assert!(
        !want.contains_key("checkpoints/epoch_000003/state.safetensors"),
        "a finished run keeps one state"
    );

    // Stopped in its third epoch or later, so that there are two full saves; where it was too fast, again.
    let stopped = at.join("stopped");
    let save = |run: &Path, epoch: u32, file: &str| run.join(format!("checkpoints/epoch_{epoch:06}/{file}"));
    let mut child =
        command(at).args(options.split_whitespace()).arg("stopped").stdout(Stdio::null()).spawn().unwrap();
    while !save(&stopped, 2, "save.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!stopped.join("finished.json").exists());
    // What a kill left is settled first; the newest save is found as the program finds it.
    let saves = RunFolder::open(&stopped).unwrap().0.saves().to_vec();
    let [.., before, newest] = saves.as_slice() else { unreachable!("{saves:?}") };
    assert!(before.state_path().is_some() && newest.state_path().is_some());
    let (before, newest) = (before.epoch(), newest.epoch());
    let kept = files(&stopped);

    for (file, words) in [
        (format!("checkpoints/epoch_{newest:06}/state.safetensors"), "is not as it was written"),
        (format!("checkpoints/epoch_{newest:06}/member_000000.safetensors"), "is not as it was written"),
        (format!("checkpoints/epoch_{newest:06}/save.json"), "is damaged"),
        ("metrics.jsonl".to_owned(), "metrics.jsonl is not as it was written: it is restored from"),
    ] {
        let run = at.join("run");
        for (name, bytes) in &kept {
            let path = run.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        flip(&run.join(&file));
        let told = foxhunt(at, "train --resume run --device cpu --save-every 0").fails(0, &[words]);
        if file != "metrics.jsonl" {
            let falls = format!("note: the save of epoch {newest} is not used: ");
            assert!(told.err.contains(&falls) && before + 1 == newest, "{}", told.err);
        }
        assert_same(&run, &want, &file);
        fs::remove_dir_all(&run).unwrap();
    }
}
