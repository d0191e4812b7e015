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
    // The next order says where the session ends: with the last bar, so that what is held is closed first, or with the next.
    let at_end = |f: &&foxhunt_ledger::FillRow| {
        let row = ledger.bars_of(f.member).iter().find(|row| row.bar == f.bar).unwrap();
        f.reason == FillReason::SessionClose && row.time_ns / 3_600_000_000_000 % 24 == 20
    };
    let last = ledger.fills.iter().find(at_end).unwrap().bar as usize;
    let act = |bars: usize, more: &str| {
        fs::write(folder.path().join("now.csv"), sample(bars)).unwrap();
        foxhunt(folder.path(), &format!("act run --data now.csv --device cpu {more}")).works().out
    };
    let text = act(last, "");
    assert!(text.contains("the next bar is the session's last") && text.contains("closed there"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&act(last, "--position 3 --json")).unwrap();
    assert_eq!((&json["next_bar_ends_session"], &json["position_lots"]), (&true.into(), &3.into()));
    let text = act(last + 1, "--position 3");
    assert!(text.contains("flat by close: sell 3 lots at this close"), "{text}");
    assert!(text.contains("holds 3 lots") && !text.contains("the next bar is"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&act(last + 1, "--position 3 --json")).unwrap();
    assert_eq!((&json["session_close_lots"], &json["position_lots"]), (&(-3).into(), &0.into()));
    assert_eq!(json["order_lots"], json["target_lots"], "decided with nothing held");
    assert!(!act(last - 3, "--position 3").contains("session"));
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
