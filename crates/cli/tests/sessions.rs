//! An instrument whose positions are flat by its session's close, through the whole program.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{foxhunt, sample, train};
use foxhunt_data::presets;
use foxhunt_ledger::{FillReason, Ledger};
use std::fs;

#[test]
fn positions_are_flat_by_the_close() {
    let folder = tempfile::tempdir().unwrap();
    let mut instrument = presets::eurusd();
    (instrument.session.length_s, instrument.session.flat_by_close) = (82_800, true);
    let flat = instrument.to_toml().unwrap();
    assert!(flat.contains("flat_by_close = true"));
    fs::write(folder.path().join("flat.toml"), &flat).unwrap();
    fs::write(folder.path().join("bars.csv"), sample(3000)).unwrap();
    train(folder.path(), "--data bars.csv --instrument flat.toml --out run").works();
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("What is held at the last close of a session is closed there"));
    let ledger = Ledger::read(&folder.path().join("run/ledger")).unwrap();
    let closes = ledger.fills.iter().filter(|f| f.reason == FillReason::SessionClose).count();
    assert!(closes > 0);
    let again = foxhunt(folder.path(), "backtest run --device cpu --actions run/ledger --out again").works();
    assert!(again.out.contains("come out as recorded"), "{}", again.out);
    foxhunt(folder.path(), "verify money run --device cpu").works();
    // Written and read again, the bars bring their instrument, and it is the same run.
    foxhunt(folder.path(), "data convert bars.csv --instrument flat.toml --out bars.parquet").works();
    train(folder.path(), "--data bars.parquet --out converted").works();
    let metrics = |run: &str| fs::read(folder.path().join(run).join("metrics.jsonl")).unwrap();
    assert!(metrics("run") == metrics("converted"));

    let endless = flat.replace("length_s = 82800", "length_s = 86400");
    fs::write(folder.path().join("endless.toml"), endless).unwrap();
    train(folder.path(), "--data bars.csv --instrument endless.toml --out never")
        .fails(3, &["endless.toml, line ", "field session.flat_by_close", "one of 86400 seconds never does"]);
    assert!(!folder.path().join("never").exists());
}
