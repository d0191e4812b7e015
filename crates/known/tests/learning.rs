//! An agent learns a market whose answer is known, and not without its features.
#![allow(clippy::unwrap_used, reason = "tests")]

use foxhunt_backtest::{Backtest, Strategy, TestWindow};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_known::{KnownMarket, Learned, Lengths, log_return, markets};
use foxhunt_ledger::reconcile;

fn learned(known: &KnownMarket, members: usize, epochs: u32) -> Learned {
    let mut config = known.quick(1);
    config.epochs = epochs;
    config.population = members;
    let optimum = known.optimum(&config).unwrap();
    known.learn(&Device::cpu(), DType::F32, &config, &optimum).unwrap()
}

/// A part of the quick schedule is enough where the answer is the sign of one feature. Three members, for of two after six
/// epochs one in four had not learned it yet.
#[test]
fn regimes_are_learned_and_noise_is_not() {
    let known = KnownMarket::new("regimes", 1, Lengths::default()).unwrap();
    let told = learned(&known, 3, 10);
    println!("told {:.3?}, {:.0} s", told.regrets, told.training_seconds);
    reconcile(&told.ledger).unwrap();
    assert!(told.median() <= known.kind().bound, "{:?}", told.regrets);
    let blind = learned(&known.shuffled(1), 2, 3);
    println!("blind {:.3?}", blind.regrets);
    assert!(blind.regrets.iter().all(|r| *r > 0.8), "{:?}", blind.regrets);
}

/// A minute a market on two cores, which `verify known` spends as well.
#[test]
#[ignore = "minutes"]
fn every_market_is_learned() {
    for kind in markets() {
        let known = KnownMarket::new(kind.name, 1, Lengths::default()).unwrap();
        let told = learned(&known, 3, known.quick(1).epochs);
        assert!(told.median() <= kind.bound, "{}: {:?}", kind.name, told.regrets);
    }
}

#[test]
fn ledgers_say_what_was_sent() {
    let lengths = Lengths { train: 2_000, validation: 500, test: 500 };
    let known = KnownMarket::new("drift", 1, lengths).unwrap();
    let (config, window) = (known.quick(1), TestWindow::test(&known.market));
    let device = Device::cpu();
    let backtest = Backtest::new(&device, DType::F32, &config, &known.market, window.clone()).unwrap();
    let chosen: Vec<[u8; 3]> =
        (0..window.decisions()).map(|k| [(k * 5 % 9) as u8, (k % 3) as u8, (k / 3 % 3) as u8]).collect();
    let ledger = backtest.strategy(&Strategy::scripted("any type", chosen.clone())).unwrap();
    reconcile(&ledger).unwrap();
    let rows = &ledger.bars_of(0)[1..];
    assert_eq!(rows.len(), chosen.len());
    for (row, [exposure, _, urgency]) in rows.iter().zip(&chosen) {
        let a = row.action;
        assert_eq!((a.exposure, a.order_type, a.urgency), (*exposure, 0, *urgency));
    }
    // So the actions of a ledger play the same ledger, and so do market orders from the start.
    assert_eq!(backtest.replay(&ledger).unwrap(), ledger);
    assert!(ledger.header.assumptions.iter().any(|a| a.starts_with("Only market orders are sent")));
    let other = KnownMarket::new("drift", 2, lengths).unwrap();
    assert!(log_return(&ledger, 0).is_finite() && log_return(&ledger, 1) == f64::NEG_INFINITY);
    assert_ne!(other.market.bars.source.sha256, known.market.bars.source.sha256);
}
