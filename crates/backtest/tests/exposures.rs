//! Given target exposures through the market's physics.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, market, small};
use foxhunt_backtest::{Backtest, Exposures, Strategy, TestWindow};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_ledger::{Ledger, reconcile};

fn bars(ledger: &Ledger) -> Vec<foxhunt_ledger::BarRow> {
    ledger.bars_of(0).to_vec()
}

/// The nine levels by their number and by their exposure are the same ledger; on every device, since both are integers.
#[test]
fn levels_and_exposures_are_the_same_ledger() {
    let config = small();
    let market = market(&config);
    let mut devices = vec![Device::cpu()];
    devices.extend(Device::cuda(0).ok());
    let window = TestWindow::test(&market);
    for device in devices {
        for leverage_e4 in [10_000, 33_333] {
            let mut rules = market.rules.clone();
            rules.max_leverage_e4 = leverage_e4;
            let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone())
                .unwrap()
                .with_rules(rules);
            let mut dice = Dice::new(5);
            let levels: Vec<u8> = (0..window.decisions()).map(|_| dice.below(9)).collect();
            let actions = levels.iter().map(|l| [*l, 0, 2]).collect();
            let by_level = backtest.strategy(&Strategy::scripted("x", actions)).unwrap();
            let targets = levels.iter().map(|l| (f64::from(*l) - 4.0) / 4.0).collect();
            let by_share = backtest.exposures(&Exposures::single("x", "As given.", targets)).unwrap();
            reconcile(&by_share).unwrap();
            assert!(bars(&by_level) == bars(&by_share) && by_level.fills == by_share.fills);
            assert!(!by_share.fills.is_empty());
        }
    }
}

/// 0.3 of 100,000 USD at 1.18: 25 lots of 1,000 EUR (25.2 rounded towards flat), where the nearest level gives 21.
#[test]
fn an_exposure_between_levels_is_held_as_it_is() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow::validation(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    let close = market.table.bars[window.rows.start].bid[3];
    let given = Exposures::single("x", "As given.", vec![-0.3; window.decisions()]);
    let ledger = backtest.exposures(&given).unwrap();
    reconcile(&ledger).unwrap();
    let lots = (0.3 * 1e11 / (f64::from(close) * 5_000.0)).floor() as i32;
    assert_eq!((lots, ledger.bars[1].position), (25, -25));
    assert_eq!(ledger.bars[1].action.exposure, 3, "the ledger shows the nearest level");
    assert!(ledger.header.assumptions.last().unwrap().starts_with("As given. Targets are kept"));
    // Late by a bar: the first decision is flat, the second what was the first.
    let late = backtest.exposures(&given.delayed()).unwrap();
    assert_eq!((late.bars[1].position, late.bars[2].position), (0, -25));
    let short = Exposures::single("x", "", vec![0.1; 3]);
    assert!(backtest.exposures(&short).unwrap_err().to_string().contains("3 actions"));
}
