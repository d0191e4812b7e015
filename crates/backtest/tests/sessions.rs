//! Flat by close: a market with sessions, of which nothing is held over an end.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, builds, small};
use foxhunt_backtest::{Backtest, Strategy, TestWindow, buy_and_hold};
use foxhunt_core::DType;
use foxhunt_data::{Bars, Session, sample};
use foxhunt_device::Device;
use foxhunt_ledger::{FillReason, Ledger, Leg, reconcile};
use foxhunt_market::SESSION_END;
use foxhunt_train::Market;

/// The sample with a session of 23 hours, to 16:00 in New York.
fn bars(flat_by_close: bool) -> Bars {
    let mut bars = sample();
    bars.instrument.session = Session {
        time_zone: "America/New_York".into(),
        day_start_s: 61_200,
        length_s: 82_800,
        flat_by_close,
    };
    bars
}

fn market(flat_by_close: bool) -> Market {
    Market::prepare(bars(flat_by_close), &small()).unwrap()
}

/// Bars at whose close something is held, though their session ends there or the next bar comes after a gap.
fn carried(ledger: &Ledger, market: &Market) -> usize {
    let held = |row: &&foxhunt_ledger::BarRow| row.position != 0;
    let over = |row: &&foxhunt_ledger::BarRow| {
        let bar = row.bar as usize;
        market.table.bars[bar].ends_session()
            || market.table.bars.get(bar + 1).is_some_and(|next| next.gap_seconds > 0)
    };
    ledger.bars.iter().filter(held).filter(over).count()
}

#[test]
fn nothing_is_held_over_a_close_and_the_books_agree() {
    let (config, market) = (small(), market(true));
    let ends: Vec<usize> = (0..market.bars.len()).filter(|&i| market.table.bars[i].ends_session()).collect();
    // 16:00 and 17:00 of 258 days and a few more: the hour between closes on its own.
    assert!((500..540).contains(&ends.len()), "{}", ends.len());
    assert_eq!(market.table.bars[ends[0]].seconds(), 3_600);
    let window = TestWindow::test(&market);
    let mut dice = Dice::new(9);
    let actions: Vec<[u8; 3]> = (0..window.decisions()).map(|_| dice.all_in()).collect();
    let mut first: Option<Ledger> = None;
    for (dtype, isa) in builds() {
        let device = Device::cpu_with(isa);
        let backtest = Backtest::new(&device, dtype, &config, &market, window.clone()).unwrap();
        let ledger = backtest.strategy(&Strategy::scripted("dice", actions.clone())).unwrap();
        match &first {
            None => first = Some(ledger),
            Some(first) => assert!(*first == ledger, "{isa:?}, {dtype}"),
        }
    }
    let ledger = first.unwrap();
    reconcile(&ledger).unwrap();
    let closes: Vec<_> = ledger.fills.iter().filter(|f| f.reason == FillReason::SessionClose).collect();
    assert!(closes.len() > 50 && closes.iter().all(|f| f.leg == Leg::CloseOut));
    assert!(closes.iter().all(|f| market.table.bars[f.bar as usize].ends_session()));
    assert_eq!(carried(&ledger, &market), 0);
    // Flat between sessions, nothing is financed over the night.
    for pair in ledger.bars.windows(2).filter(|p| p[0].position == 0 && p[1].position == 0) {
        assert!(pair[1].equity == pair[0].equity || ledger.fills.iter().any(|f| f.bar == pair[1].bar));
    }
    assert!(
        ledger
            .header
            .assumptions
            .iter()
            .any(|a| a.starts_with("What is held at the last close of a session"))
    );
    // Played again from its own actions, it is the same.
    let device = Device::cpu();
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window).unwrap();
    let again = backtest.replay(&ledger).unwrap();
    assert!(again.bars == ledger.bars && again.fills == ledger.fills);
}

/// The planted fault: one end that is forgotten is seen, and so are all of them.
#[test]
fn a_forgotten_close_is_found() {
    let (config, right) = (small(), market(true));
    let window = TestWindow::test(&right);
    let run = |market: &Market| {
        let device = Device::cpu();
        let backtest = Backtest::new(&device, DType::F32, &config, market, window.clone()).unwrap();
        backtest.strategy(&buy_and_hold(&window)).unwrap()
    };
    assert_eq!(carried(&run(&right), &right), 0);
    let mut planted = right.clone();
    let forgotten = window.rows.clone().filter(|&i| right.table.bars[i].ends_session()).nth(9).unwrap();
    planted.table.bars[forgotten].bar_seconds &= !SESSION_END;
    assert_eq!(carried(&run(&planted), &right), 1);
    let held = run(&market(false));
    assert!(carried(&held, &right) > 40);
    assert!(held.fills.iter().all(|f| f.reason != FillReason::SessionClose));
}
