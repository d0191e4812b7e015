//! Files that don't tell what they are of, and data in several files.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{foxhunt, sample, train};
use std::fs;

#[test]
fn a_file_without_a_known_name_takes_an_instrument() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("prices.csv"), sample(300)).unwrap();
    foxhunt(folder.path(), "data inspect prices.csv").fails(3, &["prices.csv", "instrument"]);
    foxhunt(folder.path(), "data inspect prices.csv --instrument cows")
        .fails(3, &["'cows' is not known", "EUR/USD"]);
    let told = foxhunt(folder.path(), "data inspect prices.csv --instrument EUR/USD").works();
    assert!(told.out.contains("EUR/USD") && told.out.contains("300 of 300"), "{}", told.out);
}

#[test]
fn files_in_order_of_time_are_one_market() {
    let folder = tempfile::tempdir().unwrap();
    let all = sample(2000);
    let (header, rows) = all.split_once('\n').unwrap();
    let lines: Vec<&str> = rows.lines().collect();
    let (a, b) = lines.split_at(900);
    for (name, part) in [("a.csv", a), ("b.csv", b)] {
        fs::write(folder.path().join(name), format!("{header}\n{}\n", part.join("\n"))).unwrap();
    }
    let options = "--instrument EUR/USD --device cpu --epochs 1 --set learn.collect=1024 --set learn.updates=4 --set \
                   learn.replay=4096";
    let train = |files: &str, out: &str| {
        foxhunt(folder.path(), &format!("train --data {files} {options} --out {out}"))
    };
    train("a.csv b.csv", "run").works();
    let setting: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("run/setting.json")).unwrap()).unwrap();
    assert_eq!(setting["bars"], 2000);
    // The parts train as the whole does.
    fs::write(folder.path().join("whole.csv"), all).unwrap();
    train("whole.csv", "one").works();
    let metrics = |run: &str| fs::read(folder.path().join(run).join("metrics.jsonl")).unwrap();
    assert!(metrics("run") == metrics("one"));
    foxhunt(folder.path(), "train --resume run --device cpu").works();
    train("b.csv a.csv", "wrong").fails(3, &["a.csv", "order of time"]);
}

#[test]
fn a_file_is_converted_and_says_of_itself_what_was_understood() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody could tell what this is of, or that its numbers have decimal commas.
    let text: String = sample(300)
        .lines()
        .map(|line| match line.split_once(',') {
            Some((stamp, numbers)) => {
                format!("{stamp};{}\n", numbers.replace(',', ";").replace('.', ","))
            }
            None => String::new(),
        })
        .collect();
    fs::write(folder.path().join("prices.csv"), text).unwrap();
    let told =
        foxhunt(folder.path(), "data convert prices.csv --out bars.parquet --instrument EUR/USD").works();
    assert!(told.out.contains("300 bars"), "{}", told.out);
    foxhunt(folder.path(), "data convert prices.csv --out bars.parquet --instrument EUR/USD")
        .fails(1, &["bars.parquet is there already"]);
    let told = foxhunt(folder.path(), "data inspect bars.parquet --plot page.html").works();
    for words in ["EUR/USD", "300 of 300", "Parquet written by foxhunt", "plot        page.html"] {
        assert!(told.out.contains(words), "no {words} in\n{}", told.out);
    }
    assert!(fs::read_to_string(folder.path().join("page.html")).unwrap().contains("<svg"));
    foxhunt(folder.path(), "data inspect prices.csv --instrument EUR/USD --columns open=Opening")
        .fails(3, &["prices.csv, line 1", "no column named \"Opening\", only"]);
    foxhunt(folder.path(), "data inspect prices.csv --instrument EUR/USD --columns colour=red")
        .fails(3, &["data.columns", "names no column"]);
}

#[test]
fn parts_and_rows_in_any_order_are_converted_to_the_same_bars() {
    let folder = tempfile::tempdir().unwrap();
    let all = sample(1000);
    let (header, rows) = all.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    let write = |name: &str, rows: &[&str]| {
        fs::write(folder.path().join(name), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    };
    write("whole.csv", &rows);
    write("a.csv", &rows[..400]);
    write("b.csv", &rows[400..]);
    rows.reverse();
    write("newest.csv", &rows);
    rows.swap(3, 700);
    write("mixed.csv", &rows);
    let told = |files: &str, out: &str| {
        let convert = format!("data convert {files} --instrument EUR/USD --out {out}");
        assert!(foxhunt(folder.path(), &convert).works().out.contains("1000 bars"));
        let told = foxhunt(folder.path(), &format!("data inspect {out}")).works().out;
        // All but the file's name and hash.
        told.lines().skip(2).map(|line| format!("{line}\n")).collect::<String>()
    };
    let right = told("whole.csv", "whole.parquet");
    for (files, out) in
        [("a.csv b.csv", "parts.parquet"), ("newest.csv", "newest.parquet"), ("mixed.csv", "mixed.parquet")]
    {
        assert_eq!(told(files, out), right, "{files}");
    }
    foxhunt(folder.path(), "data convert b.csv a.csv --instrument EUR/USD --out wrong.parquet")
        .fails(3, &["a.csv", "order of time"]);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left.len(), 5 + 4, "{left:?}");
}

#[test]
fn features_are_written_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |options: &str| foxhunt(folder.path(), &format!("features {options}"));
    let told = run("--out all.parquet --set features.set=full").works();
    assert_eq!(told.out.trim(), "all.parquet: 75 features of 6225 bars, the first 360 of them warm-up");
    assert_eq!(&fs::read(folder.path().join("all.parquet")).unwrap()[..4], b"PAR1");
    run("--out all.parquet").fails(1, &["all.parquet is there already"]);
    run("--out x.parquet --set features.names=[\"adx14\"]").fails(3, &["'adx14'", "did you mean adx_14"]);
    run("").fails(2, &["--out"]);
    let listed = run("--list").works().out;
    assert_eq!(listed.trim_end(), include_str!("../../../docs/features.md").trim_end());
}

#[test]
fn a_network_too_small_for_its_features_is_told_the_size() {
    let folder = tempfile::tempdir().unwrap();
    foxhunt(folder.path(), "train --device cpu --out run --set features.set=full")
        .fails(3, &["network.inputs", "75 features", "use 128"]);
}

/// Columns of the file that are no part of a bar are features of a run, and its other bars must have them too.
#[test]
fn columns_of_the_file_are_features() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = sample(2000)
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("{line},mood,note\n"),
            i if i % 5 == 0 => format!("{line},,x\n"),
            i => format!("{line},{},x\n", (i % 31) as f64 / 10.0),
        })
        .collect();
    fs::write(folder.path().join("eurusd.csv"), &text).unwrap();
    fs::write(folder.path().join("eurusd_plain.csv"), sample(2000)).unwrap();
    let run = |args: &str| foxhunt(folder.path(), args);
    let told = run("data convert eurusd.csv --out bars.parquet --feature-columns mood");
    assert!(told.err.contains("left out: note"), "{}", told.err);
    let told = run("data inspect bars.parquet --feature-columns mood").works();
    assert!(told.out.contains("feature     mood: 0 to 3, from row 0"), "{}", told.out);
    let told = run("features bars.parquet --out f.parquet --feature-columns mood").works();
    assert!(told.out.contains("25 features of 2000 bars"), "{}", told.out);
    common::train(folder.path(), "--data eurusd.csv --feature-columns mood --out run").works();
    common::train(folder.path(), "--data bars.parquet --feature-columns mood --out again").works();
    let file = |run: &str, name: &str| fs::read(folder.path().join(run).join(name)).unwrap();
    assert!(
        file("run", "metrics.jsonl") == file("again", "metrics.jsonl"),
        "the same numbers from both files"
    );
    let page = String::from_utf8(file("run", "report.html")).unwrap();
    assert!(page.contains("The agent sees columns of the file beside its bars: mood."));
    run("backtest run --data eurusd.csv --out b --device cpu").fails(0, &["trained and chosen on"]);
    let told = run("act run --data bars.parquet --device cpu").works();
    assert!(told.out.contains("order: "), "{}", told.out);
    for command in
        ["backtest run --data eurusd_plain.csv --out c --device cpu", "act run --data eurusd_plain.csv"]
    {
        run(command).fails(3, &["eurusd_plain.csv, line 1", "has no column \"mood\"", "it needs again"]);
    }
    let told = run("verify leak run --device cpu").works();
    assert!(told.out.contains("is the file's statement, and not checked"), "{}", told.out);
    run("features --out g.parquet --feature-columns mood").fails(3, &["the embedded sample has bars alone"]);
    common::train(folder.path(), "--data eurusd.csv --feature-columns note --out bad")
        .fails(3, &["eurusd.csv, line 2, field note: \"x\" is not a number"]);
}

/// One digit that slipped is told by whatever reads the bars, with its line, and stands in the report's assumptions.
#[test]
fn a_price_far_from_those_around_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = sample(2000);
    let line = text.lines().nth(1_949).unwrap();
    let cells: Vec<&str> = line.split(',').collect();
    let slipped = line.replacen(cells[2], "9.9", 1);
    fs::write(folder.path().join("eurusd.csv"), text.replacen(line, &slipped, 1)).unwrap();
    let told = foxhunt(folder.path(), "data inspect eurusd.csv").works();
    assert!(
        told.out.contains("far prices  one price is far from those around it: high x 9."),
        "{}",
        told.out
    );
    assert!(told.out.contains("(line 1950)"), "{}", told.out);
    let note = ["note: eurusd.csv: one price is far from", "(line 1950)", "mend the rows"];
    foxhunt(folder.path(), "data convert eurusd.csv --out x.parquet").fails(0, &note);
    train(folder.path(), "--data eurusd.csv --out run").fails(0, &note);
    let report = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(
        report.contains("Prices far from those around them are taken as they stand in the data: high x 9.")
    );
    assert!(report.contains("in line 1950. Where one of them is an error"));
}
