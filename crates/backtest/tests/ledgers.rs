//! Every ledger reconciles to the unit, is the same on every build, and of every member alone.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, builds, market, small};
use foxhunt_backtest::{Backtest, Ends, Strategy, TestWindow, buy_and_hold, flat};
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_device::Device;
use foxhunt_ledger::{Ledger, Leg, MemberInfo, OrderEnd, reconcile};
use foxhunt_market::RuleBook;
use foxhunt_metrics::{Series, summary};
use foxhunt_nn::{Net, Plan, net::BranchingQ};
use foxhunt_report::{ReportInput, render};
use foxhunt_train::{Config, Market, network};
use std::collections::BTreeSet;

fn net(config: &Config, dtype: DType) -> Net {
    BranchingQ::new(&mut Plan::new(dtype, 1), network(config)).net
}

/// The images of fresh members, one after another.
fn fresh(config: &Config, ids: &[u64]) -> Vec<f32> {
    let net = net(config, DType::F32);
    ids.iter().flat_map(|&id| net.initial_image(member_seed(config.seed, id))).collect()
}

fn members(count: u64) -> Vec<MemberInfo> {
    (0..count).map(|id| MemberInfo { id, label: format!("dice {id}"), seed: id, reward_unit: 1.0 }).collect()
}

fn dice(count: u64, decisions: usize, mut throw: impl FnMut(&mut Dice) -> [u8; 3]) -> Strategy {
    let actions = (0..count).map(|id| {
        let mut dice = Dice::new(id + 1);
        (0..decisions).map(|_| throw(&mut dice)).collect()
    });
    Strategy { baseline: Some("dice".into()), members: members(count), seed: 1, actions: actions.collect() }
}

/// Rules that make everything happen: stops, liquidations, caps, ruin.
fn wild(market: &Market) -> RuleBook {
    RuleBook {
        max_leverage_e4: 1_500_000,
        stop_atr_e4: 15_000,
        start_cash: market.rules.start_cash * 300,
        ruin_e4: 1_000,
        ..market.rules.clone()
    }
}

fn check(ledger: &Ledger, rows: Option<usize>) {
    let attribution = reconcile(ledger).unwrap();
    for lines in &attribution.members {
        let bars = ledger.bars_of(lines.member);
        let last = bars.last().unwrap();
        assert_eq!(last.position, 0, "closed out");
        assert!(last.flags.terminated != last.flags.truncated);
        if let Some(rows) = rows {
            assert_eq!(bars.len(), rows);
        }
        assert!(!summary(&Series::new(ledger, lines)).is_empty());
    }
}

/// What is compiled once runs by any rules as if it had been compiled for them, one after another, and by its own again.
#[test]
fn rules_are_changed_without_compiling_anew() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let backtest =
        Backtest::new(&device, DType::F32, &config, &market, TestWindow::validation(&market)).unwrap();
    let ids = [0, 5];
    let images = fresh(&config, &ids);
    let agents = backtest.compile(&ids).unwrap();
    let own = agents.run_images(&images).unwrap();
    let ends = |l: &Ledger| [0, 1].map(|m| Ends::of(l, m).unwrap());
    for rules in [market.rules.with_costs(3), market.rules.with_equity(100), wild(&market)] {
        let other = backtest.clone().with_rules(rules.clone());
        let anew = other.agents_of_images(&ids, &images).unwrap();
        assert_ne!(anew, own);
        assert!(agents.run_by(&other).unwrap() == anew);
        // What is read without the ledger is of the backtest's own rules, whatever was run before; ruined members, too.
        assert_eq!(agents.ends_of_images(&images).unwrap(), ends(&own));
        let wild = backtest.clone().with_rules(rules).compile(&ids).unwrap();
        assert_eq!(wild.ends_of_images(&images).unwrap(), ends(&anew));
    }
    assert!(agents.run_by(&backtest).unwrap() == own);
}

#[test]
fn greedy_fresh_nets_reconcile_and_each_equals_itself_alone() {
    let config = small();
    let market = market(&config);
    for dtype in DType::ALL {
        let device = Device::cpu();
        let window = TestWindow::validation(&market);
        let backtest = Backtest::new(&device, dtype, &config, &market, window.clone()).unwrap();
        let ids = [0, 5, 2];
        let all = backtest.agents_of_images(&ids, &fresh(&config, &ids)).unwrap();
        check(&all, Some(window.rows.len()));
        assert!(!all.fills.is_empty(), "an untrained net trades");
        for (m, id) in ids.into_iter().enumerate() {
            let alone = backtest.agents_of_images(&[id], &fresh(&config, &[id])).unwrap();
            let rows = |l: &Ledger, m: u32| {
                let bars: Vec<_> =
                    l.bars_of(m).iter().map(|r| foxhunt_ledger::BarRow { member: 0, ..*r }).collect();
                let fills: Vec<_> =
                    l.fills_of(m).iter().map(|r| foxhunt_ledger::FillRow { member: 0, ..*r }).collect();
                (bars, fills)
            };
            assert_eq!(rows(&all, m as u32), rows(&alone, 0));
            assert_eq!(all.header.members[m], alone.header.members[0]);
        }
        // What an agent did is done again without it.
        assert_eq!(backtest.replay(&all).unwrap(), all);
    }
}

#[test]
fn any_actions_reconcile_under_wild_rules_too() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow { name: "all".into(), rows: market.splits.train.start..market.splits.test.end };
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    let mut ends = BTreeSet::new();
    let mut legs = BTreeSet::new();
    for rules in [market.rules.clone(), wild(&market)] {
        for throw in [Dice::action, Dice::all_in] {
            let backtest = backtest.clone().with_rules(rules.clone());
            let ledger = backtest.strategy(&dice(24, window.decisions(), throw)).unwrap();
            check(&ledger, None);
            ends.extend(ledger.bars.iter().map(|r| r.order_end.word()));
            legs.extend(ledger.fills.iter().map(|f| (f.leg.word(), f.reason.word())));
        }
    }
    let seen = |ends: &BTreeSet<&str>, end: OrderEnd| ends.contains(end.word());
    for end in OrderEnd::ALL.iter().filter(|e| !matches!(e, OrderEnd::NoVolume)) {
        assert!(seen(&ends, *end), "{end:?} never happened: {ends:?}");
    }
    for leg in Leg::ALL {
        assert!(legs.iter().any(|(l, _)| *l == leg.word()), "{leg:?} never happened: {legs:?}");
    }
}

/// The sample with a bid 8 to 20 units below its ask.
fn quotes(config: &Config) -> Market {
    let mut bars = foxhunt_data::sample();
    let ask = bars.bid.clone();
    for (row, open) in bars.bid.open.iter_mut().enumerate() {
        let spread = 8 + 2 * (row as i32 % 7);
        *open -= spread;
        for column in [&mut bars.bid.high, &mut bars.bid.low, &mut bars.bid.close] {
            column[row] -= spread;
        }
    }
    bars.ask = Some(ask);
    Market::prepare(bars, config).unwrap()
}

#[test]
fn quote_bars_reconcile() {
    let config = small();
    let market = quotes(&config);
    let device = Device::cpu();
    let window = TestWindow { name: "all".into(), rows: market.splits.train.start..market.splits.test.end };
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    for rules in [market.rules.clone(), wild(&market)] {
        let backtest = backtest.clone().with_rules(rules);
        check(&backtest.strategy(&dice(4, window.decisions(), Dice::action)).unwrap(), None);
    }
    let hold = backtest.strategy(&buy_and_hold(&window)).unwrap();
    check(&hold, None);
    let close_out = hold.fills.last().unwrap();
    assert_eq!(close_out.leg, Leg::CloseOut);
    assert!(close_out.half_spread >= 4, "half of a spread of 8 to 20");
}

#[test]
fn recorded_actions_give_the_same_ledger_on_every_build_and_on_a_gpu() {
    let config = small();
    let market = market(&config);
    let window = TestWindow::test(&market);
    let mut first: Option<Ledger> = None;
    let mut machines: Vec<(DType, Device)> =
        builds().into_iter().map(|(dtype, isa)| (dtype, Device::cpu_with(isa))).collect();
    match Device::cuda(0) {
        Ok(gpu) => machines.extend(DType::ALL.map(|dtype| (dtype, gpu.clone()))),
        Err(e) => eprintln!("not run on a GPU: {e}"),
    }
    for (dtype, device) in machines {
        let backtest = Backtest::new(&device, dtype, &config, &market, window.clone())
            .unwrap()
            .with_rules(wild(&market))
            .with_trials(3);
        let ledger = match &first {
            None => backtest.strategy(&dice(3, window.decisions(), Dice::action)).unwrap(),
            Some(first) => backtest.replay(first).unwrap(),
        };
        check(&ledger, None);
        assert_eq!(*first.get_or_insert_with(|| ledger.clone()), ledger, "{dtype:?} {device}");
    }
}

#[test]
fn the_report_is_made_of_it() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow::test(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    let agent = backtest.agents_of_images(&[0, 1], &fresh(&config, &[0, 1])).unwrap();
    let hold = backtest.strategy(&buy_and_hold(&window)).unwrap();
    let nothing = backtest.strategy(&flat(&window)).unwrap();
    check(&nothing, Some(window.rows.len()));
    assert!(nothing.fills.is_empty());
    assert!(nothing.bars.iter().all(|r| r.equity == market.rules.start_cash));
    let input = ReportInput {
        ledger: &agent,
        chosen: None,
        baselines: &[hold, nothing],
        stress: &[],
        curves: &[],
        folds: &[],
        config_toml: &config.to_toml().unwrap(),
    };
    let page = render(&input).unwrap();
    assert!(page.contains("buy and hold") && page.contains("closed at that close"));
}

#[test]
fn what_can_not_be_run_is_refused() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let refused = |rows| {
        let window = TestWindow { name: "test".into(), rows };
        Backtest::new(&device, DType::F32, &config, &market, window).unwrap_err().to_string()
    };
    assert!(refused(0..100).contains("the first row with all features"));
    assert!(refused(5_000..9_000).contains("there are 6225 bars"));
    assert!(refused(5_000..5_001).contains("two bars are the least"));
    let window = TestWindow::test(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window).unwrap();
    let error = backtest.strategy(&Strategy::scripted("short", vec![[4, 0, 0]; 5])).unwrap_err();
    assert!(error.to_string().starts_with("member 0 has 5 actions, but"), "{error}");
    let error = backtest.strategy(&Strategy::scripted("odd", vec![[9, 0, 0]; 5])).unwrap_err();
    assert!(error.to_string().contains("[9, 0, 0]"), "{error}");
    assert!(backtest.agents_of_images(&[], &[]).is_err());
    assert!(backtest.agents_of_images(&[0], &[1.0]).is_err());
}

/// Compiled once, run with one set of weights and then with another: each ledger is that of a backtest of its own.
#[test]
fn what_is_compiled_once_remembers_nothing() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow::test(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window).unwrap();
    let ids = [3, 8];
    let (a, b) = (fresh(&config, &[3, 8]), fresh(&config, &[5, 6]));
    let agents = backtest.compile(&ids).unwrap();
    for images in [&a, &b, &a] {
        assert!(agents.run_images(images).unwrap() == backtest.agents_of_images(&ids, images).unwrap());
    }
    // And after accounts that stopped early.
    let wild = backtest.clone().with_rules(wild(&market));
    let agents = wild.compile(&ids).unwrap();
    for images in [&b, &a] {
        assert!(agents.run_images(images).unwrap() == wild.agents_of_images(&ids, images).unwrap());
    }
}
