//! What perfect foresight really earns on the sample.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{market, small};
use foxhunt_backtest::{Backtest, TestWindow, buy_and_hold, foresight};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_ledger::reconcile;

#[test]
fn foresight_beats_all_and_costs_are_what_limits_it() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow::validation(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    let gain = |rules, strategy| {
        let ledger = backtest.clone().with_rules(rules).strategy(&strategy).unwrap();
        let lines = reconcile(&ledger).unwrap().members[0];
        (lines.end - lines.start) as f64 / lines.start as f64
    };
    let path = || foresight(&market, &window).unwrap();
    let real = gain(market.rules.clone(), path());
    let hold = gain(market.rules.clone(), buy_and_hold(&window));
    // 907 bars of some 7 bp: what is right nearly always is worth more than half the account, the market itself -3 %.
    assert!(real > 0.5 && hold < 0.0, "{real} {hold}");
    let free = gain(market.rules.with_costs(0), path());
    let thrice = gain(market.rules.with_costs(3), path());
    assert!(free > real && real > thrice, "{free} {real} {thrice}");
    // A path that is planned for the costs that it meets does better at them than one that was planned for others.
    let mut dear = market.clone();
    dear.rules = market.rules.with_costs(10);
    let planned = gain(dear.rules.clone(), foresight(&dear, &window).unwrap());
    let unplanned = gain(dear.rules.clone(), path());
    assert!(planned > unplanned, "{planned} {unplanned}");
}
