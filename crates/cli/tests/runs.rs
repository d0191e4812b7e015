//! A run's folder as other commands find it: whole, repeated, damaged.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{TINY, assert_same, command, files, finished, foxhunt, sample, train};
use std::fs;

/// `config.toml` of a run and its data are the run: the same device gives the same bytes.
#[test]
fn a_run_repeats_from_its_configuration() {
    let (folder, run) = finished();
    let setting = fs::read_to_string(run.join("setting.json")).unwrap();
    for word in ["\"device\": \"CPU\"", "\"dtype\": \"f32\"", "\"data\": \"eurusd.csv\"", "\"bars\": 6000"] {
        assert!(setting.contains(word), "{setting}");
    }
    for line in fs::read_to_string(run.join("metrics.jsonl")).unwrap().lines() {
        let epoch: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!((0.0..=1.0).contains(&epoch["edge_share"].as_f64().unwrap()), "{line}");
    }
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("Target returns beyond the support of the value distribution"));
    let again = foxhunt(folder.path(), "train --config run/config.toml --device cpu --out again").works();
    assert!(again.out.contains("again/report.html"));
    assert_same(&folder.path().join("again"), &files(&run), "from config.toml");

    // Its data is named relative to where the run was begun.
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    foxhunt(&elsewhere, "train --config ../run/config.toml --device cpu --out x").fails(3, &["eurusd.csv"]);
    foxhunt(&elsewhere, "backtest ../run --out x").fails(3, &["eurusd.csv", "start foxhunt there"]);
}

#[test]
fn a_backtest_repeats() {
    let (folder, run) = finished();
    foxhunt(folder.path(), "backtest run --device cpu --out again").works();
    let done =
        foxhunt(folder.path(), "backtest run --device cpu --actions run/ledger --out replayed").works();
    assert!(done.out.starts_with("875 of 875 bars and "), "{}", done.out);
    for out in ["again", "replayed"] {
        for file in ["ledger/bars.parquet", "ledger/fills.parquet", "report.html"] {
            let (got, want) = (fs::read(folder.path().join(out).join(file)), fs::read(run.join(file)));
            assert!(got.unwrap() == want.unwrap(), "{out}/{file}");
        }
    }
    fs::write(folder.path().join("gbpusd.csv"), sample(3000)).unwrap();
    let other = foxhunt(folder.path(), "backtest run --device cpu --data gbpusd.csv --out other");
    let note = "note: the members were trained on EUR/USD, and the bars of gbpusd.csv are of GBP/USD\n";
    assert_eq!((other.code, other.err.as_str()), (0, note));
}

#[test]
fn what_can_not_be_resumed_is_said() {
    let (folder, run) = finished();
    foxhunt(folder.path(), "train --resume none").fails(3, &["none", "no such folder"]);
    foxhunt(folder.path(), "train --resume eurusd.csv").fails(3, &["eurusd.csv", "file"]);
    fs::create_dir(folder.path().join("other")).unwrap();
    fs::write(folder.path().join("other/notes.txt"), "mine").unwrap();
    foxhunt(folder.path(), "train --resume other").fails(3, &["other", "not a run folder"]);
    // A finished one is no failure, and needs nothing.
    let before = files(&run);
    fs::remove_file(folder.path().join("eurusd.csv")).unwrap();
    let done = foxhunt(folder.path(), "train --resume run").works();
    assert_eq!(done.out, "run is finished\n");
    assert_same(&run, &before, "a finished run");
}

/// A run that is not finished, of which something was changed since.
#[test]
fn a_changed_run_is_not_gone_on_with() {
    let (folder, run) = finished();
    fs::remove_file(run.join("finished.json")).unwrap();
    let resume = || foxhunt(folder.path(), "train --device cpu --resume run");
    let data = folder.path().join("eurusd.csv");
    let text = fs::read(&data).unwrap();
    fs::remove_file(&data).unwrap();
    resume().fails(3, &["eurusd.csv", "there is no", "folder that it was begun in"]);
    fs::write(&data, sample(6001)).unwrap();
    resume().fails(1, &["eurusd.csv is not the data", "restore that file"]);
    foxhunt(folder.path(), "backtest run --device cpu --out x").fails(1, &["eurusd.csv is not the data"]);
    fs::write(&data, text).unwrap();

    foxhunt(folder.path(), "train --device cpu --dtype bf16 --resume run")
        .fails(1, &["f32", "leave --dtype out"]);

    let setting = fs::read(run.join("setting.json")).unwrap();
    fs::write(run.join("setting.json"), b"{}").unwrap();
    resume().fails(3, &["setting.json is damaged"]);
    fs::remove_file(run.join("setting.json")).unwrap();
    resume().fails(3, &["setting.json is missing"]);
    fs::write(run.join("setting.json"), setting).unwrap();

    let config = fs::read_to_string(run.join("config.toml")).unwrap();
    fs::write(run.join("config.toml"), config.replace("gamma = 0.99", "gamma = 0.98")).unwrap();
    resume().fails(1, &["config.toml", "changed since the run was made"]);
    fs::write(run.join("config.toml"), config).unwrap();
    resume().works();
    assert!(run.join("finished.json").exists());
}

#[test]
fn damage_is_found_before_a_backtest() {
    let (folder, run) = finished();
    let backtest = || foxhunt(folder.path(), "backtest run --device cpu --out x");
    let selection = run.join("selection.json");
    let chosen = fs::read_to_string(&selection).unwrap();
    for text in ["", "{", "[]", "[{\"member\": 0}]", &chosen.replace("\"member\": 0", "\"member\": 5")] {
        fs::write(&selection, text).unwrap();
        backtest().fails(3, &["selection.json", "restore it"]);
    }
    fs::write(&selection, chosen.replace("\"epoch\": ", "\"epoch\": 9")).unwrap();
    backtest().fails(3, &["the weights of epoch 9"]);
    fs::remove_file(&selection).unwrap();
    backtest().fails(1, &["run has no selection.json", "train --resume run"]);
    fs::write(&selection, &chosen).unwrap();

    let metrics = fs::read(run.join("metrics.jsonl")).unwrap();
    fs::write(run.join("metrics.jsonl"), b"{\n").unwrap();
    backtest().fails(3, &["metrics.jsonl line 1", "restore it with foxhunt train --resume run"]);
    fs::write(run.join("metrics.jsonl"), metrics).unwrap();
    fs::remove_dir_all(folder.path().join("x")).ok();

    let checkpoints = run.join("checkpoints");
    let weights: Vec<_> = files(&checkpoints).into_keys().filter(|f| f.contains("member")).collect();
    for file in &weights {
        let path = checkpoints.join(file);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    }
    backtest().fails(3, &["member_000000.safetensors"]);
    for file in weights {
        fs::remove_file(checkpoints.join(file)).unwrap();
    }
    backtest().fails(3, &["member_000000.safetensors"]);
    fs::remove_dir_all(&checkpoints).unwrap();
    backtest().fails(3, &["checkpoints"]);
    foxhunt(folder.path(), "backtest eurusd.csv --out x").fails(3, &["eurusd.csv"]);
    assert!(!folder.path().join("x").exists());
}

/// Whatever byte of a ledger is wrong, it is said, and nothing is written.
#[test]
fn a_damaged_or_foreign_ledger_is_refused() {
    let (folder, run) = finished();
    let replay =
        |from: &str| foxhunt(folder.path(), &format!("backtest run --device cpu --actions {from} --out x"));
    replay("none").fails(3, &["none"]);
    replay("eurusd.csv").fails(3, &["eurusd.csv"]);
    for file in ["bars.parquet", "fills.parquet"] {
        let path = run.join("ledger").join(file);
        let whole = fs::read(&path).unwrap();
        let mut damaged: Vec<Vec<u8>> =
            [0, 1, 4, 100, whole.len() / 2, whole.len() - 1].iter().map(|n| whole[..*n].to_vec()).collect();
        for i in 0..60 {
            let mut bytes = whole.clone();
            let at = i * (bytes.len() - 1) / 59;
            bytes[at] ^= 0x55;
            damaged.push(bytes);
        }
        let mut refused = 0;
        for bytes in damaged {
            fs::write(&path, bytes).unwrap();
            let done = replay("run/ledger");
            let out = folder.path().join("x");
            // Some bytes of a Parquet file say nothing; then the ledger comes out as it was.
            if done.code == 0 {
                assert!(fs::read(out.join("ledger").join(file)).unwrap() == whole, "{file}");
                fs::remove_dir_all(&out).unwrap();
            } else {
                assert!(done.code == 1 || done.code == 3, "{file}: {} {}", done.code, done.err);
                assert!(!out.exists());
                refused += 1;
            }
        }
        assert!(refused > 50, "{refused} of 66");
        fs::write(&path, whole).unwrap();
    }
    // The ledger of another stretch of the same market, and of other bars.
    fs::write(folder.path().join("eurusd_b.csv"), sample(5000)).unwrap();
    train(folder.path(), "--data eurusd_b.csv --out other").works();
    replay("other/ledger").fails(1, &["eurusd_b.csv", "give a ledger of this run"]);
    let config = ["--set", "data.train_share=0.6", "--data", "eurusd.csv", "--out", "third"];
    assert!(command(folder.path()).arg("train").args(TINY).args(config).output().unwrap().status.success());
    replay("third/ledger").fails(1, &["give a ledger of this run"]);
    replay("run/ledger").works();
}

#[test]
fn memory_is_shown_by_purpose() {
    let (folder, run) = finished();
    let before = files(&run);
    let table = foxhunt(folder.path(), "device --device cpu --memory run").works().out;
    let mut lines = table.lines();
    assert!(lines.next().unwrap().starts_with("run: f32, P 1, on "), "{table}");
    let numbers = |line: &str, name: &str| -> Vec<u64> {
        let cells = line.strip_prefix(name).unwrap_or_else(|| panic!("{name} is not in: {line}"));
        cells.split_whitespace().take(4).map(|n| n.parse().unwrap()).collect()
    };
    assert!(lines.next().unwrap().starts_with("bytes "), "{table}");
    let json = foxhunt(folder.path(), "device --device cpu --memory run --json").works().out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut sum = 0;
    let names = ["weights", "targets", "moments", "gradients", "activations", "replay", "market data"];
    let names = names.into_iter().chain(["integer columns", "workspace", "alignment"]);
    let keys = ["weights", "targets", "moments", "gradients", "activations", "replay", "data"];
    let keys = keys.into_iter().chain(["integers", "workspace", "alignment"]);
    for (name, key) in names.zip(keys) {
        let row = numbers(lines.next().unwrap(), name);
        let part = &json["memory"][key];
        let parts = ["real", "integer", "untyped"].map(|kind| part[kind].as_u64().unwrap());
        assert_eq!((&row[..3], row[3]), (&parts[..], parts.iter().sum()), "{name}");
        sum += row[3];
    }
    assert_eq!(numbers(lines.next().unwrap(), "sum")[3], sum);
    assert_eq!(json["memory"]["total"], sum);
    assert_eq!((&json["dtype"], &json["population"]), (&"f32".into(), &1.into()));
    // The ring: 2,048 transitions, structs of whole 16 bytes.
    let ring = json["memory"]["replay"]["integer"].as_u64().unwrap();
    assert!(ring >= 2_048 * 48 && ring.is_multiple_of(2_048 * 16), "{ring}");
    assert_same(&run, &before, "a run whose memory was shown");
    foxhunt(folder.path(), "device --device cpu --memory none")
        .fails(3, &["none", "there is no such folder"]);
}

/// Without a terminal there is no live view, and the same run.
#[test]
fn a_live_view_needs_a_terminal() {
    let (folder, run) = finished();
    let done = train(folder.path(), "--data eurusd.csv --out again --live");
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.err, "note: no live view: standard input and standard error are not a terminal\n");
    assert_same(&folder.path().join("again"), &files(&run), "with --live");
}

/// The same bars, the same window, other members: the page would mix two runs' figures.
#[test]
fn a_ledger_of_another_runs_members_is_refused() {
    let (folder, _) = finished();
    train(folder.path(), "--data eurusd.csv --seed 99 --out other").works();
    foxhunt(folder.path(), "backtest run --device cpu --actions other/ledger --out x")
        .fails(1, &["other/ledger tells of member 0", "give a ledger of this run"]);
    // Fees that ruin it: its actions end before the window does, which is not what is wrong with it.
    train(folder.path(), "--data eurusd.csv --set market.taker_fee_bp=1000 --out dear").works();
    let dear = foxhunt_ledger::Ledger::read(&folder.path().join("dear/ledger")).unwrap();
    assert!(dear.bars.len() < 500 && dear.header.rates.taker_e7 == 1_000_000, "{} bars", dear.bars.len());
    let rules = ["dear/ledger was made by other rules", "Fees are 0.2 bp", "the ledger: \"Fees are 1000 bp"];
    let done =
        foxhunt(folder.path(), "backtest run --device cpu --actions dear/ledger --out x").fails(1, &rules);
    assert!(!done.err.contains("decide otherwise"), "{}", done.err);
    assert!(!folder.path().join("x").exists());
}
