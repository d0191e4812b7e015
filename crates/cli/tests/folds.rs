//! A run that walks forward, through the whole program.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{files, foxhunt, sample, train};
use std::fs;

const WALK: &str = "--data eurusd.csv --population 2 --set data.walk_forward.folds=2 --set data.walk_forward.train_days=90 \
                    --set data.walk_forward.validation_days=20 --set data.walk_forward.test_days=20 --out run";

#[test]
fn folds_are_tested_one_after_another() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("eurusd.csv"), sample(6000)).unwrap();
    let done = train(folder.path(), WALK).works();
    for words in ["the chosen of each fold", "one account through all test windows", "\n1 2017-"] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    let run = folder.path().join("run");
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(run.join(name)).unwrap()).unwrap()
    };
    let selection = json("selection.json");
    let of = |key: &str| -> Vec<u64> {
        selection.as_array().unwrap().iter().map(|c| c[key].as_u64().unwrap()).collect()
    };
    assert_eq!((of("fold"), of("member")), (vec![0, 0, 1, 1], vec![0, 1, 1_000_000, 1_000_001]));
    let chosen = selection.as_array().unwrap().iter().filter(|c| c["chosen"] == true).count();
    assert_eq!(chosen, 2, "one of each fold");

    // Two members of two epochs in each fold stand behind every figure.
    let (all, first, last) = (json("figures.json"), json("fold_0/figures.json"), json("fold_1/figures.json"));
    for figures in [&all, &first, &last] {
        assert_eq!(figures["trials"], 8);
    }
    let folds = all["folds"].as_array().unwrap();
    assert_eq!(folds.len(), 2);
    for (fold, own) in folds.iter().zip([&first, &last]) {
        assert_eq!(
            fold["members"][0]["metrics"]["total_return"],
            own["agent"]["members"][0]["metrics"]["total_return"]
        );
        assert!(fold["validation"]["end_ns"].as_i64() < fold["test"]["start_ns"].as_i64());
    }
    assert_eq!(all["window"]["start_ns"], first["window"]["start_ns"]);
    assert_eq!(all["window"]["end_ns"], last["window"]["end_ns"]);
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("id=\"folds\"") && page.contains("fold_1/report.html"));

    // Other commands mean the last fold.
    foxhunt(folder.path(), "backtest run --device cpu --out again").works();
    for file in ["ledger/bars.parquet", "ledger/fills.parquet"] {
        let read = |path: &str| fs::read(folder.path().join(path).join(file)).unwrap();
        assert!(read("again") == read("run/fold_1"), "{file}");
    }
    let act = foxhunt(folder.path(), "act run --device cpu --json").works();
    let act: serde_json::Value = serde_json::from_str(&act.out).unwrap();
    assert!(act["member"].as_u64() >= Some(1_000_000));

    // In the list it stands with the account through all folds.
    let list = foxhunt(folder.path(), "runs list run").works().out;
    assert!(list.contains("2 folds") && list.contains("finished"), "{list}");
    let shown = foxhunt(folder.path(), "runs show run").works().out;
    for words in ["fold  member  epoch", "one account through all folds", "20 days each"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let listed: serde_json::Value =
        serde_json::from_str(&foxhunt(folder.path(), "runs list run --json").works().out).unwrap();
    assert_eq!(listed[0]["through_all_folds"], all["agent"]["members"][0]["metrics"]);

    // The same again, and from the end of the run.
    let before = files(&run);
    foxhunt(folder.path(), "train --config run/config.toml --device cpu --out run2").works();
    let after = files(&folder.path().join("run2"));
    assert!(before.iter().all(|(name, bytes)| name == "lock" || after[name] == *bytes), "the same bytes");
}

#[test]
fn wrong_folds_are_refused_before_there_is_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("eurusd.csv"), sample(6000)).unwrap();
    let with = |more: &str| train(folder.path(), &format!("--data eurusd.csv --out run {more}"));
    with("--set data.walk_forward.folds=2").fails(3, &["data.walk_forward.validation_days is 0"]);
    with("--set data.walk_forward.folds=2 --set data.walk_forward.validation_days=300 --set data.walk_forward.test_days=300")
        .fails(3, &["data.walk_forward: fold 0 would begin at", "fewer folds"]);
    assert!(!folder.path().join("run").exists());
}
