//! What stands beside an agent: baselines, stress lines, and its next decision alone.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, market, small};
use foxhunt_backtest::{
    Backtest, Exposures, Holding, Strategy, TestWindow, baselines, middle_member, random_timing, recorded,
    stress,
};
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_device::Device;
use foxhunt_ledger::{Ledger, reconcile};
use foxhunt_nn::{Plan, net::BranchingQ};
use foxhunt_train::{Config, network};

fn fresh(config: &Config, ids: &[u64]) -> Vec<f32> {
    let net = BranchingQ::new(&mut Plan::new(DType::F32, 1), network(config)).net;
    ids.iter().flat_map(|&id| net.initial_image(member_seed(config.seed, id))).collect()
}

fn traded(ledger: &Ledger, member: u32) -> f64 {
    ledger.fills_of(member).iter().map(|f| f64::from(f.lots.unsigned_abs())).sum()
}

#[test]
fn baselines_reconcile_at_equal_costs() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow::test(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    // Holds for ten bars.
    let mut dice = Dice::new(2);
    let levels: Vec<u8> = (0..window.decisions()).map(|_| dice.below(9)).collect();
    let held = (0..window.decisions()).map(|k| [levels[k / 10], 0, 2]).collect();
    let agent = backtest.strategy(&Strategy::scripted("agent", held)).unwrap();
    // The agent was chosen among many; no baseline was chosen.
    let all = baselines(&backtest.clone().with_trials(9_600), &agent, None).unwrap();
    assert!(all.iter().all(|l| l.header.trials == 1));
    let names: Vec<&str> = all.iter().filter_map(|l| l.header.baseline.as_deref()).collect();
    assert_eq!(names, ["buy and hold", "volatility target", "moving averages", "random timing"]);
    for ledger in &all {
        reconcile(ledger).unwrap();
        assert_eq!(
            (&ledger.header.rates, &ledger.header.window),
            (&agent.header.rates, &agent.header.window)
        );
        assert_eq!(ledger.header.start_cash, agent.header.start_cash);
        assert!(!ledger.fills.is_empty(), "{:?}", ledger.header.baseline);
    }
    assert!(all[1].bars.iter().all(|r| r.position >= 0), "long only");
    let sides: std::collections::BTreeSet<i32> = all[2].bars.iter().map(|r| r.position.signum()).collect();
    assert!(sides.contains(&1) && sides.contains(&-1), "both sides of the cross: {sides:?}");
    // Turnover of every draw is the agent's within the seam and what equity and prices do to sizes.
    let random = &all[3];
    assert_eq!(random.members(), 20);
    let ends: std::collections::BTreeSet<i64> =
        (0..20).filter_map(|m| random.bars_of(m).last().map(|r| r.equity)).collect();
    assert!(ends.len() > 10, "draws differ: {ends:?}");
    for m in 0..20 {
        let ratio = traded(random, m) / traded(&agent, 0);
        assert!((0.9..1.1).contains(&ratio), "draw {m}: {ratio}");
    }
    // Fine targets are turned as they are: a tenth is no flat.
    let given =
        Exposures::single("fine", "", (0..window.decisions()).map(|k| [0.1, -0.1][k / 50 % 2]).collect());
    let fine = backtest.exposures(&given).unwrap();
    let all = baselines(&backtest, &fine, Some(&given)).unwrap();
    for m in 0..20 {
        let ratio = traded(&all[3], m) / traded(&fine, 0);
        assert!((0.9..1.1).contains(&ratio), "draw {m}: {ratio}");
    }
    assert_eq!(random_timing(&backtest, &agent), random_timing(&backtest, &agent), "seeded");
}

#[test]
fn stress_lines_answer_what_they_say() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow::test(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window).unwrap();
    let ids = [3, 4, 9];
    let images = fresh(&config, &ids);
    let agent = backtest.agents_of_images(&ids, &images).unwrap();
    let actions = recorded(&agent);
    let mut again = |b: &Backtest<'_>| b.agents_of_images(&ids, &images);
    let lines =
        stress(&backtest, &agent, &mut again, &mut |b| b.strategy(&actions.delayed(b.window().decisions())))
            .unwrap();
    let keys: Vec<&str> = lines.iter().map(|l| l.key).collect();
    assert_eq!(keys, ["costs_0", "costs_1", "costs_2", "costs_3", "delay_1", "equity_10", "equity_100"]);
    let of = |key: &str| lines.iter().find(|l| l.key == key).unwrap().ledger.as_ref().unwrap();
    assert!(*of("costs_1") == agent, "costs × 1 is the backtest itself");
    let at_once = backtest.clone().with_costs(1).unwrap();
    assert!(again(&at_once).unwrap() == agent, "and is what another run of it gives");
    assert!(of("costs_0").fills.iter().all(|f| f.fee == 0 && f.half_spread == 0 && f.impact_x4 == 0));
    assert!(of("costs_0").bars.iter().all(|r| r.financing == 0));
    let share = |l: &Ledger, m: u32| {
        let rows = l.bars_of(m);
        rows.last().unwrap().equity as f64 / rows[0].equity as f64
    };
    for m in 0..3 {
        assert!(share(of("costs_0"), m) > share(of("costs_3"), m), "an untrained net trades a lot");
        let late = of("delay_1").bars_of(m);
        assert_eq!(late[1].position, 0);
        assert!(
            late.windows(2).skip(1).zip(agent.bars_of(m).windows(2)).all(|(l, a)| l[1].action == a[1].action)
        );
    }
    assert_eq!(of("equity_100").header.start_cash, 100 * agent.header.start_cash);
    for line in &lines {
        assert_eq!(line.again, line.key != "delay_1");
        reconcile(line.ledger.as_ref().unwrap()).unwrap();
    }
    // What does not fit the integers is said, and the other lines stand.
    let mut large = market.rules.clone();
    large.start_cash *= 100_000;
    let scripted = foxhunt_backtest::buy_and_hold(backtest.window());
    let large = backtest.clone().with_rules(large);
    let ledger = large.strategy(&scripted).unwrap();
    let lines = stress(&large, &ledger, &mut |b| b.strategy(&scripted), &mut |b| {
        b.strategy(&scripted.delayed(b.window().decisions()))
    })
    .unwrap();
    let problem = lines.last().unwrap().ledger.as_ref().unwrap_err();
    assert!(problem.contains("start_cash"), "{problem}");
    assert!(lines[0].ledger.is_ok());
}

/// Where an account was ruined it decided nothing more; a bar later, or at lower costs, it may live on.
#[test]
fn a_ruined_policy_has_stress_lines_and_baselines() {
    let mut config = small();
    config.market.ruin = 0.999;
    let market = market(&config);
    let device = Device::cpu();
    let window = TestWindow::test(&market);
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window.clone()).unwrap();
    let swing = (0..window.decisions()).map(|k| [[8, 0, 2], [0, 0, 2]][k % 2]).collect();
    let swings = Strategy::scripted("swings", swing);
    let agent = backtest.strategy(&swings).unwrap();
    assert!(agent.bars_of(0).len() < 100, "ruined by its costs");
    let actions = recorded(&agent);
    let lines = stress(&backtest, &agent, &mut |b| b.strategy(&swings), &mut |b| {
        b.strategy(&actions.delayed(b.window().decisions()))
    })
    .unwrap();
    for line in &lines {
        reconcile(line.ledger.as_ref().unwrap()).unwrap();
    }
    let late = lines.iter().find(|l| l.key == "delay_1").unwrap().ledger.as_ref().unwrap();
    assert_eq!(late.bars_of(0)[1].action.exposure, 4, "flat before the first");
    // Random timing is matched to the bars that the agent lived; its own draws may be ruined before.
    let lived = agent.bars_of(0).len() - 1;
    let all = baselines(&backtest, &agent, None).unwrap();
    assert_eq!(all.len(), 4);
    let given = Exposures::single("given", "", vec![1.0; window.decisions()]);
    for random in [&all[3], &baselines(&backtest, &agent, Some(&given)).unwrap()[3]] {
        assert!((0..20).all(|m| random.bars_of(m).len() <= lived + 1));
        assert!((0..20).any(|m| random.bars_of(m).len() == lived + 1));
        let ends = random.bars_of(0).last().unwrap().time_ns;
        assert!(ends <= agent.bars_of(0)[lived].time_ns);
        assert!(
            random.header.assumptions.iter().any(|w| w.contains(&format!("the same {lived} and end there")))
        );
    }
    let held = |l: &Ledger, m: u32| {
        let rows = &l.bars_of(m)[1..];
        rows.iter().filter(|r| r.position != 0).count() as f64 / rows.len() as f64
    };
    let (own, drawn) = (held(&agent, 0), (0..20).map(|m| held(&all[3], m)).collect::<Vec<_>>());
    assert!(own > 0.5 && drawn.iter().all(|x| (x - own).abs() < 0.2), "{lived} bars: {own}, {drawn:?}");
    assert_eq!(actions.delayed(3).actions, [[[4, 0, 0], [8, 0, 2], [0, 0, 2]]]);
    assert!(actions.delayed(window.decisions()).actions[0].ends_with(&[[4, 0, 0]]));
}

/// The next decision of a fresh account is the first of a backtest that begins there.
#[test]
fn the_next_decision_is_a_backtests_first() {
    let config = small();
    let market = market(&config);
    let device = Device::cpu();
    let ids = [0, 5, 2];
    let images = fresh(&config, &ids);
    let mut seen = std::collections::BTreeSet::new();
    for first in [market.splits.test.start, market.splits.test.start + 77, market.splits.test.end - 40] {
        let window = |rows| TestWindow { name: "test".into(), rows };
        let backtest =
            Backtest::new(&device, DType::F32, &config, &market, window(first..first + 30)).unwrap();
        let ledger = backtest.agents_of_images(&ids, &images).unwrap();
        let here =
            Backtest::new(&device, DType::F32, &config, &market, window(first - 1..first + 1)).unwrap();
        let fresh_account = Holding { position: 0, equity: market.rules.start_cash };
        let next = |holding| here.next(&ids, holding, |r, n| Ok(r.write(n.weight, &images)?)).unwrap();
        for (m, decision) in next(fresh_account).iter().enumerate() {
            let row = &ledger.bars_of(m as u32)[1];
            let taken = [row.action.exposure, row.action.order_type, row.action.urgency];
            assert_eq!(decision.action, taken, "member {m} at {first}");
            for (values, chosen) in decision.values.iter().zip(decision.action) {
                let best = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                assert_eq!(values[usize::from(chosen)], best);
            }
            assert_eq!(decision.values.each_ref().map(Vec::len), [9, 3, 3]);
            // A market order without a cut fills to the target.
            if taken[1] == 0 {
                assert_eq!(row.position, decision.target);
            }
            seen.insert(decision.action);
        }
        // Another account: the observation, and with it Q, is another.
        let lots = Holding { position: 40, equity: market.rules.start_cash / 2 };
        let held = next(lots);
        assert_ne!(held[0].values, next(fresh_account)[0].values);
        assert!(held.iter().all(|d| d.order == if d.banded { 0 } else { i64::from(d.target) - 40 }));
    }
    assert!(seen.len() > 1, "{seen:?}");
    assert_eq!(middle_member(&Ledger { bars: vec![], ..baseline_free(&market, &config) }), 0);
}

/// A ledger with one member, whatever it did.
fn baseline_free(market: &foxhunt_train::Market, config: &Config) -> Ledger {
    let device = Device::cpu();
    let backtest = Backtest::new(&device, DType::F32, config, market, TestWindow::test(market)).unwrap();
    backtest.strategy(&foxhunt_backtest::flat(backtest.window())).unwrap()
}
