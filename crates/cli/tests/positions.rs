//! Anyone's positions through the same physics, and the next order.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{assert_same, files, finished, foxhunt, sample};
use foxhunt_ledger::{Ledger, reconcile};
use std::{fs, path::Path};

/// Stamps of the sample's rows.
fn stamps(rows: usize) -> Vec<String> {
    sample(rows).lines().skip(1).map(|l| l.split(',').next().unwrap().to_owned()).collect()
}

fn figures(folder: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(folder.join("figures.json")).unwrap()).unwrap()
}

#[test]
fn positions_go_through_the_same_physics_with_and_without_a_run() {
    let (folder, run) = finished();
    let before = files(&run);
    let stamps = stamps(6000);
    let mut text = "stamp,exposure\n".to_owned();
    for (k, stamp) in stamps.iter().enumerate().skip(1_000).step_by(17) {
        text.push_str(&format!("{stamp},{}\n", [1.0, -0.3, 0.0, 0.55][k % 4]));
    }
    fs::write(folder.path().join("mine.csv"), text).unwrap();
    let alone =
        "backtest --positions mine.csv --data eurusd.csv --instrument EUR/USD --device cpu --out alone";
    let done = foxhunt(folder.path(), alone).works();
    assert!(done.out.contains("mine.csv") && done.out.contains("random timing"), "{}", done.out);
    assert!(done.out.contains("costs × 3") && done.out.contains("equity × 100"), "{}", done.out);
    foxhunt(folder.path(), &alone.replace("--out alone", "--out again")).works();
    assert_same(&folder.path().join("again"), &files(&folder.path().join("alone")), "the same file again");
    let ledger = Ledger::read(&folder.path().join("alone/ledger")).unwrap();
    reconcile(&ledger).unwrap();
    let close = ledger.bars[0].close;
    assert_eq!(ledger.bars[0].position, 0);
    // Row 1,000 is a multiple of 4: full long at its close, 100,000 USD in lots of 1,000 EUR; a lot is 5,000 money units.
    let full = 100_000_000_000_i64 / (i64::from(close) * 5_000);
    assert_eq!(i64::from(ledger.bars[1].position), full);
    assert!(
        ledger.header.assumptions.last().unwrap().starts_with("The targets are those of mine.csv (SHA-256 ")
    );

    // In a run: its test window, its rules; what was set before holds there, and is said.
    let done = foxhunt(folder.path(), "backtest run --positions mine.csv --device cpu --out inside");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("targets of mine.csv lie before the first decision"), "{}", done.err);
    let (mine, own) = (
        Ledger::read(&folder.path().join("inside/ledger")).unwrap(),
        Ledger::read(&run.join("ledger")).unwrap(),
    );
    assert_eq!((&mine.header.window, mine.header.rates), (&own.header.window, own.header.rates));
    assert_same(&run, &before, "a run beside which positions were tested");
    // The agent's own figures beside them: the trained run wrote them when it finished.
    let own = figures(&run);
    assert_eq!(own["stress"].as_array().unwrap().len(), 7);
    assert_eq!(own["baselines"].as_array().unwrap().len(), 4);
    assert_eq!(own["baselines"][3]["members"].as_array().unwrap().len(), 20);
    // Costs × 1 is the run itself.
    assert_eq!(own["stress"][1]["members"][0]["metrics"], own["agent"]["members"][0]["metrics"]);
}

#[test]
fn what_is_wrong_with_positions_is_said_with_file_line_and_field() {
    let (folder, _) = finished();
    let stamps = stamps(6000);
    let backtest = |text: &str, words: &[&str]| {
        fs::write(folder.path().join("p.csv"), text).unwrap();
        foxhunt(folder.path(), "backtest run --positions p.csv --device cpu --out x").fails(3, words);
        assert!(!folder.path().join("x").exists());
    };
    let (a, b) = (&stamps[5_500], &stamps[5_501]);
    backtest("", &["p.csv", "is empty"]);
    backtest("a,b\n", &["p.csv, line 1", "stamp,exposure"]);
    backtest(&format!("stamp,exposure\n{a},1\n{b},-2\n"), &["p.csv, line 3, field exposure", "\"-2\""]);
    backtest(&format!("stamp,exposure\n{b},1\n{a},1\n"), &["p.csv, line 3, field stamp", "not after"]);
    backtest(
        "stamp,exposure\n01.01.2030 00:00:00.000,1\n",
        &["line 2, field stamp", "names no bar of eurusd.csv"],
    );
    // After the last decision there is nothing to do.
    backtest(&format!("stamp,exposure\n{},1\n", stamps[5_999]), &["p.csv, line 2: none of 1 targets"]);
    let options = "backtest run --positions p.csv --set market.leverage=2 --out x";
    foxhunt(folder.path(), options).fails(1, &["its own configuration"]);
    foxhunt(folder.path(), "backtest --positions none.csv --data eurusd.csv --out x").fails(3, &["none.csv"]);
}

#[test]
fn the_next_order_is_printed() {
    let (folder, run) = finished();
    let before = files(&run);
    let text = foxhunt(folder.path(), "act run --device cpu").works().out;
    for word in
        ["close of 2017-", "(the starting cash)", "member 0 after epoch", "exposure", "urgency", "order: "]
    {
        assert!(text.contains(word), "'{word}' is not in: {text}");
    }
    let json = |args: &str| -> serde_json::Value {
        serde_json::from_str(
            &foxhunt(folder.path(), &format!("act run --device cpu --json {args}")).works().out,
        )
        .unwrap()
    };
    // A file that ends where the test window begins: the order is the first of the run's own ledger.
    let ledger = Ledger::read(&run.join("ledger")).unwrap();
    let first = ledger.bars[0].bar as usize;
    fs::write(folder.path().join("eurusd_past.csv"), sample(first + 1)).unwrap();
    let past = json("--data eurusd_past.csv");
    let names = ["-1", "-3/4", "-1/2", "-1/4", "0", "+1/4", "+1/2", "+3/4", "+1"];
    let action = ledger.bars[1].action;
    assert_eq!(past["exposure"]["taken"], names[usize::from(action.exposure)]);
    assert_eq!(past["order_type"]["taken"], ["market", "maker", "ioc"][usize::from(action.order_type)]);
    assert_eq!(past["urgency"]["taken"], ["patient", "normal", "aggressive"][usize::from(action.urgency)]);
    let held = json("--data eurusd_past.csv --position -40 --equity 50000.5");
    assert_eq!((&held["position_lots"], &held["equity_money"]), (&(-40).into(), &50_000_500_000_i64.into()));
    let of = ["instrument", "quote_currency", "lot", "money_exponent"].map(|key| held[key].to_string());
    assert_eq!(of, ["\"EUR/USD\"", "\"USD\"", "\"1000\"", "6"]);
    assert_ne!(held["exposure"]["values"], past["exposure"]["values"], "another account is seen otherwise");
    let order = held["target_lots"].as_i64().unwrap() + 40;
    assert!(held["order_lots"] == order || held["within_band"] == true);
    // A maker or IOC order has a limit, a market order and none have not.
    let limited = held["order_lots"] != 0 && held["order_type"]["taken"] != "market";
    assert_eq!(held["limit_price"].is_string(), limited, "{held}");
    foxhunt(folder.path(), "act run --member 7").fails(1, &["the members of run are 0: name one of them"]);
    foxhunt(folder.path(), "act run --position 2000000000").fails(1, &["beyond"]);
    assert_same(&run, &before, "a run that was asked for its next order");
}
