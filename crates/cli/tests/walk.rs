//! Runs that walk forward: what they leave, going on after a stop, and what is said where bars are too few.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{assert_same, files, foxhunt, sample, train};
use serde_json::Value;
use std::{fs, path::Path};

const WALK: &str = "--data eurusd.csv --population 2 --set data.walk_forward.folds=2 --set \
                    data.walk_forward.train_days=120 --set data.walk_forward.validation_days=20 --set \
                    data.walk_forward.test_days=30";

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("eurusd.csv"), sample(6000)).unwrap();
    folder
}

#[test]
fn folds_are_chosen_tested_and_stitched() {
    let folder = folder();
    let at = folder.path();
    let done = train(at, &format!("{WALK} --out run")).works();
    assert!(done.out.contains("one account through all test windows"), "{}", done.out);
    assert!(done.out.contains("mean of 2 members") && !done.out.contains("over members  "), "{}", done.out);
    let run = at.join("run");

    // Each fold chose one of its own members, out of its own two.
    let choices = json(&run.join("selection.json"));
    let choices = choices.as_array().unwrap();
    let of = |key: &str| choices.iter().map(|c| c[key].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((of("fold"), of("member")), (vec![0, 0, 1, 1], vec![1_000_000, 1_000_001, 0, 1]));
    for fold in choices.chunks(2) {
        assert_eq!(fold.iter().filter(|c| c["chosen"] == true).count(), 1);
    }

    // Windows in order, purged; the test windows touch and do not overlap, and the account goes through both.
    let figures = json(&run.join("figures.json"));
    let folds = figures["folds"].as_array().unwrap();
    let ns = |fold: usize, window: &str, end: &str| folds[fold][window][end].as_i64().unwrap();
    const HOUR: i64 = 3_600_000_000_000;
    for fold in 0..2 {
        assert!(ns(fold, "train", "end_ns") + 3 * HOUR < ns(fold, "validation", "start_ns"));
        assert!(ns(fold, "validation", "end_ns") + 3 * HOUR < ns(fold, "test", "start_ns"));
    }
    assert!(ns(0, "test", "end_ns") < ns(1, "test", "start_ns"));
    let ledger = foxhunt_ledger::Ledger::read(&run.join("ledger")).unwrap();
    foxhunt_ledger::reconcile(&ledger).unwrap();
    let header = &ledger.header;
    assert_eq!(header.window.start_ns, ns(0, "test", "start_ns"));
    assert_eq!(header.window.end_ns, ns(1, "test", "end_ns"));
    // Two members, two epochs, two folds.
    assert_eq!(header.trials, 8);
    let part = |fold| foxhunt_ledger::Ledger::read(&run.join(format!("fold_{fold}/ledger"))).unwrap();
    let (first, second) = (part(0), part(1));
    assert_eq!((first.header.trials, second.header.trials), (8, 8));
    assert_eq!(ledger.bars.len(), first.bars_of(0).len() + second.bars_of(0).len());
    // What the account was told is what the chosen members decided.
    let chosen = |fold: usize| choices[2 * fold..].iter().position(|c| c["chosen"] == true).unwrap() as u32;
    let acts =
        |l: &foxhunt_ledger::Ledger, m| l.bars_of(m).iter().skip(1).map(|b| b.action).collect::<Vec<_>>();
    let (all, one, two) = (acts(&ledger, 0), acts(&first, chosen(0)), acts(&second, chosen(1)));
    assert_eq!((&all[..one.len()], &all[one.len() + 1..]), (&one[..], &two[..]));
    assert_eq!(all[one.len()], one[one.len() - 1], "kept over the boundary");

    // As many bars as an n-step return and an observation span, in words: 3 + 1 - 1.
    let shown = foxhunt(at, "runs show run").works().out;
    assert!(shown.contains("2, 3 bars purged, 0 bars of embargo"), "{shown}");

    // What was chosen is held against all trials, a baseline against none.
    let deflated = |of: &Value| of["members"][0]["metrics"]["deflated_sharpe"].as_f64().unwrap();
    let hold = &figures["baselines"][0];
    assert_eq!(hold["name"], "buy and hold");
    let days: Vec<f64> = serde_json::from_value(hold["members"][0]["day_returns"]["return"].clone()).unwrap();
    let of = |trials| foxhunt_metrics::deflated_sharpe_of(&days, trials).value().unwrap();
    assert!((deflated(hold) - of(1)).abs() < 1e-9 && deflated(hold) > of(8), "{}", deflated(hold));

    // Whoever asks a run for one market has its last fold.
    let note = "note: the run walked forward: its last fold is tested, fold 1\n";
    let again = foxhunt(at, "backtest run --device cpu --out again");
    assert_eq!((again.code, again.err.as_str()), (0, note));
    for file in ["ledger/bars.parquet", "ledger/fills.parquet"] {
        let (a, b) = (fs::read(at.join("again").join(file)), fs::read(run.join("fold_1").join(file)));
        assert!(a.unwrap() == b.unwrap(), "{file}");
    }
    // The ledger of every fold and that of the account through all come out again as they were recorded.
    for (n, ledger) in ["fold_0/ledger", "fold_1/ledger", "ledger"].iter().enumerate() {
        let done =
            foxhunt(at, &format!("backtest run --device cpu --actions run/{ledger} --out again-{n}")).works();
        assert!(done.out.contains("come out as recorded"), "{}", done.out);
        for file in ["bars.parquet", "fills.parquet"] {
            let read = |folder: &Path| fs::read(folder.join(file)).unwrap();
            let same = read(&at.join(format!("again-{n}/ledger"))) == read(&run.join(ledger));
            assert!(same, "{ledger}/{file}");
        }
    }
    // On other data than the run's, a backtest's actions are taken again with it.
    let other = "backtest run --device cpu --data eurusd.csv --out other";
    foxhunt(at, other).fails(0, &["its last fold is tested"]);
    let again = "backtest run --device cpu --data eurusd.csv --actions other/ledger --out other-again";
    let done = foxhunt(at, again).fails(0, &["its last fold is tested"]);
    assert!(done.out.contains("come out as recorded"), "{}", done.out);
    foxhunt(at, "backtest run --device cpu --actions other/ledger --out x").fails(
        1,
        &["other/ledger tells of the other data window", "with --data the file that it was made on"],
    );
    foxhunt(at, "act run --device cpu").works();
    let leak = foxhunt(at, "verify leak run --device cpu").works();
    assert!(leak.out.contains("nothing depends on its future: passed"), "{}", leak.out);
}

/// Stopped between two epochs and gone on with, it ends with the bytes of one that was left alone.
#[cfg(unix)]
#[test]
fn a_walk_goes_on_to_the_same_bytes() {
    let folder = folder();
    let at = folder.path();
    // A line per member: two epochs of four.
    let (whole, cut) = common::whole_and_cut(at, WALK, 8);
    assert!(!cut.join("selection.json").exists());
    foxhunt(at, "train --device cpu --save-every 0 --resume cut").works();
    assert_same(&cut, &files(&whole), "a walk gone on with");
}

#[test]
fn too_few_bars_are_told_with_what_is_needed() {
    let folder = folder();
    let at = folder.path();
    let refused = |more: &str, words: &[&str]| {
        train(at, &format!("{WALK} {more} --out x")).fails(3, words);
        assert!(!at.join("x").exists());
    };
    refused(
        "--set data.walk_forward.folds=12",
        &["data.walk_forward on eurusd.csv: fold 0 would begin at", "at most", "folds"],
    );
    refused("--set data.walk_forward.test_days=2", &["fold 0 keeps", "test window and needs 64"]);
    refused(
        "--set data.walk_forward.purge_bars=5000",
        &["fold 0 keeps 0 bars of its train window", "purge_bars"],
    );
    refused("--set data.walk_forward.test_days=0", &["data.walk_forward.test_days is 0"]);
    refused("--set data.test_to=2030-01-01", &["data.test_to", "is outside eurusd.csv"]);
}
