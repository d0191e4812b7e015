//! Bars with a bid and an ask: what their spread costs, and what stress does to it.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, small};
use foxhunt_backtest::{Backtest, Ends, Strategy, TestWindow, recorded, stress};
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_data::{Bars, Ohlc};
use foxhunt_device::Device;
use foxhunt_ledger::{FillReason, Ledger, Leg, MemberAttribution, reconcile};
use foxhunt_nn::{Plan, net::BranchingQ};
use foxhunt_train::{Config, Market, network};

/// The sample as bids, beside asks 2 to 10 units above, on the grid's even sums; the open's spread is not the close's.
fn quotes(config: &Config) -> Market {
    let bars = foxhunt_data::sample();
    let spread = |row: usize| 2 * (1 + (row * 7 % 5) as i32);
    let above = |side: &[i32]| side.iter().enumerate().map(|(row, x)| x + spread(row)).collect::<Vec<i32>>();
    let Ohlc { open, high, low, close } = &bars.bid;
    let mut ask = Ohlc { open: above(open), high: above(high), low: above(low), close: above(close) };
    for row in (0..bars.len()).step_by(3) {
        ask.close[row] += 4;
        ask.high[row] = ask.high[row].max(ask.close[row]);
    }
    Market::prepare(Bars { ask: Some(ask), ..bars }, config).unwrap()
}

/// Market orders of all sizes and urgencies.
fn swings(decisions: usize) -> Strategy {
    let mut dice = Dice::new(8);
    let actions = (0..decisions).map(|_| [dice.below(9), 0, dice.below(3)]).collect();
    Strategy::scripted("swings", actions)
}

fn lines(ledger: &Ledger) -> MemberAttribution {
    reconcile(ledger).unwrap().members[0]
}

/// Σ |x| tv times half of what the bars quote where each fill looked: exact, for sums are even.
fn half_spreads(market: &Market, ledger: &Ledger, factor: i128) -> i128 {
    let of = |fill: &foxhunt_ledger::FillRow| {
        let bar = &market.table.bars[fill.bar as usize];
        let spread = |k: usize| i128::from(bar.ask[k] - bar.bid[k]);
        let eighths = match (fill.leg, fill.reason) {
            (Leg::Twap, _) => (0..4).map(spread).sum(),
            (Leg::CloseOut, _) => 4 * spread(3),
            (Leg::Maker, _) | (_, FillReason::StopInBar | FillReason::LiquidationInBar) => 0,
            _ => 4 * spread(0),
        };
        i128::from(fill.lots.unsigned_abs()) * i128::from(market.rules.tv) * eighths * factor
    };
    ledger.fills.iter().map(of).sum::<i128>() / 8
}

#[test]
fn a_quoted_spread_is_paid_named_and_scaled_with_all_costs() {
    let config = small();
    let market = quotes(&config);
    let device = Device::cpu();
    let window = TestWindow::test(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    let swings = swings(window.decisions());
    let own = backtest.strategy(&swings).unwrap();
    assert!(own.fills.len() > 300);
    assert!(backtest.clone().with_costs(1).unwrap().strategy(&swings).unwrap() == own, "bit for bit");
    for factor in [0, 1, 2, 3] {
        let ledger = backtest.clone().with_costs(factor).unwrap().strategy(&swings).unwrap();
        let (lines, quoted) = (lines(&ledger), half_spreads(&market, &ledger, factor.into()));
        // Every fill is rounded against the trader, by less than a unit.
        let lots: i128 = ledger.fills.iter().map(|f| i128::from(f.lots.unsigned_abs())).sum();
        let rounding = lots * i128::from(market.rules.tv);
        let over = lines.spread - quoted;
        assert!((0..=rounding).contains(&over), "costs x {factor}: {} of {quoted}", lines.spread);
        assert!(ledger.bars.iter().zip(&own.bars).all(|(a, b)| a.close == b.close), "marks stay");
        let said =
            ledger.header.assumptions.iter().any(|w| w.contains("times their distance about the same mids"));
        assert_eq!(said, factor != 1);
        if factor == 0 {
            assert_eq!((quoted, lines.impact, lines.fees, lines.financing), (0, 0, 0, 0));
            let at_open = |f: &&foxhunt_ledger::FillRow| f.leg == Leg::Open;
            for fill in ledger.fills.iter().filter(at_open) {
                let bar = &market.table.bars[fill.bar as usize];
                assert_eq!(2 * fill.price, bar.bid[0] + bar.ask[0], "at the mid");
            }
        }
    }
}

/// A net that is compiled once trades dearer bars as one that is compiled for them, and its own again.
#[test]
fn the_spread_is_changed_without_compiling_anew() {
    let config = small();
    let market = quotes(&config);
    let device = Device::cpu();
    let backtest =
        Backtest::new(&device, DType::F32, &config, &market, TestWindow::validation(&market)).unwrap();
    let net = BranchingQ::new(&mut Plan::new(DType::F32, 1), network(&config)).net;
    let image = net.initial_image(member_seed(config.seed, 4));
    let agents = backtest.compile(&[4]).unwrap();
    let own = agents.run_images(&image).unwrap();
    for factor in [0, 3] {
        let dearer = backtest.clone().with_costs(factor).unwrap();
        let anew = dearer.agents_of_images(&[4], &image).unwrap();
        assert!(anew != own);
        assert!(agents.run_by(&dearer).unwrap() == anew);
        let ends = agents.ends_of_images(&image).unwrap();
        assert_eq!(ends, [Ends::of(&own, 0).unwrap()], "its own bars again");
    }
}

#[test]
fn stress_lines_scale_what_is_quoted() {
    let config = small();
    let market = quotes(&config);
    let device = Device::cpu();
    let backtest = Backtest::new(&device, DType::F32, &config, &market, TestWindow::test(&market)).unwrap();
    // Few enough that equity, and with it the size of orders, stays near what it was.
    let decisions = backtest.window().decisions();
    let actions = (0..decisions).map(|k| [[8, 0, 2], [4, 0, 2]][k / 20 % 2]).collect();
    let swings = Strategy::scripted("swings", actions);
    let ledger = backtest.strategy(&swings).unwrap();
    let late = recorded(&ledger);
    let all = stress(&backtest, &ledger, &mut |b| b.strategy(&swings), &mut |b| {
        b.strategy(&late.delayed(b.window().decisions()))
    })
    .unwrap();
    let spread = |key: &str| {
        let line = all.iter().find(|l| l.key == key).unwrap();
        lines(line.ledger.as_ref().unwrap()).spread as f64
    };
    for (key, factor) in [("costs_0", 0.0), ("costs_2", 2.0), ("costs_3", 3.0)] {
        let ratio = spread(key) / spread("costs_1");
        assert!((ratio - factor).abs() < 0.1, "{key}: {ratio}");
    }
}
