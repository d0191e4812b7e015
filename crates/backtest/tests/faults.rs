//! Faults that other simulators had (`market.md` section 9), of whole backtests: each a test that they would fail. The table of
//! all of them is docs/faults.md.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{market, small};
use foxhunt_backtest::{Backtest, Exposures, TestWindow, buy_and_hold};
use foxhunt_core::DType;
use foxhunt_data::{LoadOptions, SAMPLE_CSV, load_bytes, presets};
use foxhunt_device::Device;
use foxhunt_ledger::{Leg, OrderEnd, reconcile};
use foxhunt_train::Market;

/// "Unlimited size where volume is unknown": a file without a volume column has its preset's volume, and an order takes a tenth
/// of it at most.
#[test]
fn size_is_limited_where_volume_is_unknown() {
    let text = std::str::from_utf8(SAMPLE_CSV).unwrap();
    let without: String = text.lines().map(|l| format!("{}\n", l.rsplit_once(',').unwrap().0)).collect();
    let mut instrument = presets::eurusd();
    instrument.preset_volume_lots_per_hour = 1_000;
    let options = LoadOptions { instrument: Some(instrument), ..LoadOptions::default() };
    let bars = load_bytes("no_volume.csv", without.into_bytes(), &options).unwrap();
    assert!(!bars.has_volume);
    let config = small();
    let market = Market::prepare(bars, &config).unwrap();
    let mut rules = market.rules.clone();
    rules.start_cash *= 100;
    let device = Device::cpu();
    let window = TestWindow::test(&market);
    let backtest =
        Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap().with_rules(rules);
    let ledger = backtest.strategy(&buy_and_hold(&window)).unwrap();
    reconcile(&ledger).unwrap();
    // 10 million USD are about 8,500 lots: 85 bars of 100 lots, where an unlimited order takes one.
    let orders: Vec<i32> = ledger.fills.iter().filter(|f| f.leg == Leg::Open).map(|f| f.lots).collect();
    assert!(orders.len() > 80 && orders[..80].iter().all(|lots| *lots == 100), "{orders:?}");
    assert_eq!(ledger.bars[1].order_end, OrderEnd::PartVolume);
    let said = ledger.header.assumptions.join(" ");
    assert!(said.contains("the file has no volume, so a preset's is assumed"), "{said}");
}

/// "Last reward repeated", and "the final observation replaced by the reset's": a ruined account has no row after its ruin, and
/// its rewards come to the growth of its equity, once.
#[test]
fn a_ruined_account_ends_and_is_not_paid_twice() {
    let config = small();
    let market = market(&config);
    let mut rules = market.rules.clone();
    (rules.max_leverage_e4, rules.ruin_e4) = (1_500_000, 9_500);
    let device = Device::cpu();
    let window = TestWindow::test(&market);
    let backtest =
        Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap().with_rules(rules);
    let short = Exposures::single("short", "", vec![-1.0; window.decisions()]);
    let ledger = backtest.exposures(&short).unwrap();
    reconcile(&ledger).unwrap();
    let last = ledger.bars.last().unwrap();
    assert!(last.flags.terminated && !last.flags.truncated, "ruin is no end of data");
    assert!(ledger.bars.len() < window.rows.len(), "no row after the ruin");
    assert!(ledger.bars[1..ledger.bars.len() - 1].iter().all(|row| !row.flags.terminated));
    let sum: i64 = ledger.bars.iter().map(|row| i64::from(row.reward_q20)).sum();
    let growth = (last.equity as f64 / ledger.bars[0].equity as f64).ln() * f64::from(1 << 20);
    assert!((sum as f64 - growth).abs() <= ledger.bars.len() as f64, "{sum} {growth}");
    let repeated = sum + i64::from(last.reward_q20);
    assert!((repeated as f64 - growth).abs() > 1e3, "the planted fault would be seen");
}

/// "Data end treated as ruin": the last bar of the data is an end without ruin.
#[test]
fn the_end_of_data_is_no_ruin() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow::test(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    let ledger = backtest.strategy(&buy_and_hold(&window)).unwrap();
    let last = ledger.bars.last().unwrap();
    assert!(last.flags.truncated && !last.flags.terminated);
    assert_eq!(ledger.bars.len(), window.rows.len());
}
