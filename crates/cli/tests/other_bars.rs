//! Bars that nothing is trained on: a run's members on other files, and given positions.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Done, command, finished, foxhunt, sample, train};
use foxhunt_ledger::{Ledger, reconcile};
use std::fs;

/// The first row of the sample with all of the standard features.
const FIRST: usize = 168;

#[test]
fn other_bars_need_no_windows() {
    let (folder, _) = finished();
    let write = |name: &str, rows: usize| fs::write(folder.path().join(name), sample(rows)).unwrap();
    write("eur300.csv", 300);
    write("least.csv", FIRST + 1);
    write("two.csv", FIRST + 2);
    write("short.csv", FIRST);
    let act = |data: &str| foxhunt(folder.path(), &format!("act run --device cpu --data {data}"));
    assert!(act("eur300.csv").works().out.contains("order: "));
    assert!(act("least.csv").works().out.contains("order: "));
    act("short.csv").fails(3, &["short.csv: has 168 bars", "give at least 1 more earlier ones"]);
    let test = |data: &str| {
        foxhunt(folder.path(), &format!("backtest run --device cpu --data {data} --out {data}.out"))
    };
    for (data, bars) in [("eur300.csv", 300 - FIRST), ("two.csv", 2)] {
        // The first bars of the run's own file are bars that it was trained on: the test is none.
        test(data).fails(0, &["bars lie in the time that the members were trained and chosen on"]);
        let page = fs::read_to_string(folder.path().join(format!("{data}.out/report.html"))).unwrap();
        assert!(page.contains("what they earn there is no test of them"));
        let ledger = Ledger::read(&folder.path().join(format!("{data}.out/ledger"))).unwrap();
        reconcile(&ledger).unwrap();
        assert_eq!(ledger.bars.len(), bars, "{data}");
    }
    test("least.csv").fails(3, &["least.csv: has 169 bars", "give at least 1 more earlier ones"]);
}

#[test]
fn positions_need_neither_features_nor_windows() {
    let (folder, _) = finished();
    let text = sample(60);
    fs::write(folder.path().join("short.csv"), &text).unwrap();
    let stamps: Vec<&str> = text.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    let test = |rows: &[(usize, f64)], out: &str| {
        let lines: String = rows.iter().map(|(row, x)| format!("{},{x}\n", stamps[*row])).collect();
        fs::write(folder.path().join("p.csv"), format!("stamp,exposure\n{lines}")).unwrap();
        foxhunt(
            folder.path(),
            &format!(
                "backtest --positions p.csv --data short.csv --instrument EUR/USD --device cpu --out {out}"
            ),
        )
    };
    test(&[(0, 1.0), (30, -0.5)], "all").works();
    let ledger = Ledger::read(&folder.path().join("all/ledger")).unwrap();
    reconcile(&ledger).unwrap();
    assert_eq!(ledger.bars.len(), 60);
    assert!(ledger.bars[1].position > 0 && ledger.bars[40].position < 0);
    test(&[(58, 1.0)], "last").works();
    assert_eq!(Ledger::read(&folder.path().join("last/ledger")).unwrap().bars.len(), 2);
    test(&[(59, 1.0)], "late").fails(3, &["p.csv, line 2: the first target", "last bar of short.csv"]);
}

/// What a run's configuration says of its files goes for others too, and gives way to options; nothing else does.
#[test]
fn files_of_another_shape_are_read_as_options_say() {
    let (folder, _) = finished();
    let at = folder.path();
    let plain = sample(700);
    fs::write(at.join("eur700.csv"), &plain).unwrap();
    let rows: String = plain.lines().skip(1).map(|line| format!("{line}\n")).collect();
    fs::write(at.join("other.csv"), format!("when,first,high,low,last,amount\n{rows}")).unwrap();
    let columns = "--columns time=when,open=first,close=last,volume=amount";
    let want = foxhunt(at, "act run --device cpu --data eur700.csv").works().out;
    let act = |more: &str| foxhunt(at, &format!("act run --device cpu {more}"));
    act("--data other.csv").fails(3, &["other.csv, line 1: has no column", "--columns"]);
    assert_eq!(act(&format!("--data other.csv {columns}")).works().out, want);
    act("--time-zone UTC").fails(1, &["name others with --data"]);
    act("--data other.csv --feature-columns amount").fails(1, &["leave --feature-columns out"]);
    foxhunt(at, &format!("backtest run --device cpu --data other.csv {columns} --out tested"))
        .fails(0, &["bars lie in the time that the members were trained"]);
    foxhunt(at, "backtest run --device cpu --data eur700.csv --set seed=2 --out x")
        .fails(1, &["leave --set out"]);
    assert!(!at.join("x").exists());
    let money = format!("verify money --device cpu --data other.csv {columns} --instrument EUR/USD");
    assert!(foxhunt(at, &money).works().out.contains("no cent appears or is lost: passed"));

    train(at, &format!("--data other.csv {columns} --instrument EUR/USD --out named")).works();
    let named = |args: &[&str]| {
        let args = [&["act", "named", "--device", "cpu"], args].concat();
        Done::new(&command(at).args(&args).output().unwrap(), args.join(" "))
    };
    let want = named(&[]).works().out;
    assert_eq!(named(&["--data", "other.csv"]).works().out, want);
    named(&["--data", "eur700.csv"]).fails(3, &["has no column named \"when\"", "--columns"]);
    assert_eq!(named(&["--data", "eur700.csv", "--columns", ""]).works().out, want);
    foxhunt(at, "data convert eur700.csv --instrument EUR/USD --out eur.parquet").works();
    assert_eq!(named(&["--data", "eur.parquet", "--columns", ""]).works().out, want);
}

/// The sample's prices with a bar every so many seconds, and so much volume.
fn every(seconds: usize, rows: usize, volume: usize) -> String {
    let text = sample(rows);
    let row = |(k, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{},{},{volume}\n", 1_577_916_000 + k * seconds, cells[1..5].join(","))
    };
    format!(
        "time,open,high,low,close,volume\n{}",
        text.lines().skip(1).enumerate().map(row).collect::<String>()
    )
}

#[test]
fn bars_of_another_length_are_refused_and_another_instrument_is_told() {
    let (folder, _) = finished();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write("eurusd_1m.csv", every(60, 300, 1_000_000_000));
    write("gbpusd.csv", sample(300));
    let words =
        ["eurusd_1m.csv has bars of 1 min", "trained on bars of 1 h (eurusd.csv)", "give bars of 1 h"];
    foxhunt(folder.path(), "act run --device cpu --data eurusd_1m.csv").fails(1, &words);
    foxhunt(folder.path(), "backtest run --device cpu --data eurusd_1m.csv --out x").fails(1, &words);
    assert!(!folder.path().join("x").exists());
    let told = ["the members were trained on EUR/USD, and the bars of gbpusd.csv are of GBP/USD"];
    foxhunt(folder.path(), "act run --device cpu --data gbpusd.csv").fails(0, &told);
}

/// Where nothing can be traded, a run's zeros have their reason beside them: on the terminal and on the page.
#[test]
fn windows_in_which_nothing_can_be_traded_are_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("eurusd.csv"), every(3_600, 700, 5_000)).unwrap();
    let told = train(folder.path(), "--data eurusd.csv --out run");
    let told =
        told.fails(0, &["eurusd.csv: in the test window 80 of 80 bars have too little volume to trade"]);
    assert_eq!(told.err.matches("too little volume").count(), 3, "{}", told.err);
    let ledger = Ledger::read(&folder.path().join("run/ledger")).unwrap();
    let said = "Of this stretch 80 of 80 bars have too little volume to trade";
    assert!(ledger.header.assumptions.iter().any(|a| a.starts_with(said)));
    assert!(fs::read_to_string(folder.path().join("run/report.html")).unwrap().contains(said));
    let look = foxhunt(folder.path(), "data inspect eurusd.csv").works();
    assert!(look.out.contains("thin        700 of 700 bars have under 10 lots"), "{}", look.out);
    foxhunt(folder.path(), "backtest run --device cpu --out again")
        .fails(0, &["in the test window 80 of 80"]);
}

#[test]
fn bars_on_which_features_stand_still_are_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("eurusd.csv"), every(7 * 86_400, 700, 1_000_000_000)).unwrap();
    let told = train(folder.path(), "--data eurusd.csv --out run")
        .fails(0, &["eurusd.csv: the features", "are left out"]);
    assert!(told.err.contains("day_sin"), "{}", told.err);
    let named = [r#"--set"#, r#"features.names=["return_1","day_sin"]"#].join(" ");
    train(folder.path(), &format!("--data eurusd.csv --out named {named}"))
        .fails(3, &["eurusd.csv: features.names names day_sin", "leave it out"]);
    assert!(!folder.path().join("named").exists());
}

#[test]
fn parquet_is_not_written_under_other_names() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("eurusd.csv"), sample(300)).unwrap();
    for command in ["data convert eurusd.csv", "features eurusd.csv"] {
        foxhunt(folder.path(), &format!("{command} --out spy.csv"))
            .fails(1, &["spy.csv would be Parquet", "name it spy.parquet"]);
    }
    assert!(!folder.path().join("spy.csv").exists());
}
