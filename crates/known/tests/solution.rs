//! The solution is one: it does not depend on the grid, simulations have its value, nothing else that is tried beats it, and it
//! does not see what comes.
#![allow(clippy::unwrap_used, reason = "tests")]

use foxhunt_backtest::{Backtest, Strategy, TestWindow, foresight};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_known::{ACTIONS, KnownError, KnownMarket, Lengths, Policy, log_return, markets};
use foxhunt_ledger::{MemberInfo, reconcile};
use foxhunt_train::{Config, Size};
use std::cell::RefCell;

const GAMMA: f64 = 0.9;

fn all() -> impl Iterator<Item = KnownMarket> {
    markets().iter().map(|kind| KnownMarket::new(kind.name, 1, Lengths::default()).unwrap())
}

fn config(known: &KnownMarket) -> Config {
    let mut config = known.config(Config::of(Size::Small));
    config.learn.gamma = GAMMA;
    config
}

#[test]
fn a_finer_grid_has_the_same_value() {
    for known in all() {
        let name = known.kind().name;
        let value = |per_quarter| {
            let policy = known.policy_under(&known.market.rules, GAMMA, per_quarter).unwrap();
            policy.mean_value(known.chain())
        };
        let [coarse, used, fine] = [8, 16, 32].map(value);
        assert!(used > 0.0, "{name}");
        for other in [coarse, fine] {
            assert!((other / used - 1.0).abs() < 1e-4, "{name}: {coarse} {used} {fine}");
        }
        assert!(matches!(known.policy_under(&known.market.rules, GAMMA, 6), Err(KnownError::Unfit { .. })));
        assert!(matches!(known.policy(1.0), Err(KnownError::Unfit { .. })));
    }
}

/// Differences between what segments of a long path of `policy` earn, discounted, and what `said` says of their starts: the
/// mean, its standard error, and the mean of what is said. At a segment's end the value that `said` gives stands for what
/// comes, so that nothing is cut off.
fn differences(known: &KnownMarket, policy: &Policy, said: &Policy) -> (f64, f64, f64) {
    const SEGMENT: usize = 50;
    let window = TestWindow { name: "train".into(), rows: known.market.splits.train.clone() };
    let seen = RefCell::new(Vec::new());
    let played = known
        .play(&config(known), &window, "policy", |z, w| {
            seen.borrow_mut().push((z, w));
            policy.action(z, w)
        })
        .unwrap();
    let seen = seen.into_inner();
    let rows = played.ledger.bars_of(0);
    let reward = |t: usize| (rows[t + 1].equity as f64 / rows[t].equity as f64).ln();
    let (mut found, mut values) = (Vec::new(), 0.0);
    for start in (0..seen.len() - SEGMENT).step_by(SEGMENT) {
        let value = |t: usize| said.value(seen[t].0, seen[t].1);
        let end = GAMMA.powi(SEGMENT as i32) * value(start + SEGMENT);
        let earned: f64 = (0..SEGMENT).map(|k| GAMMA.powi(k as i32) * reward(start + k)).sum();
        found.push(earned + end - value(start));
        values += value(start);
    }
    let n = found.len() as f64;
    let mean = found.iter().sum::<f64>() / n;
    let variance = found.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt(), values / n)
}

#[test]
fn simulations_have_the_value_that_was_solved_for() {
    for known in all() {
        let name = known.kind().name;
        let policy = known.policy(GAMMA).unwrap();
        let (mean, error, value) = differences(&known, &policy, &policy);
        assert!(error < 0.03 * value, "{name}: {error} of {value} decides nothing");
        assert!(mean.abs() < 3.0 * error, "{name}: {mean} +- {error}, value {value}");
        // A fault: values of a market that charges nothing.
        let free = known.policy_under(&known.market.rules.with_costs(0), GAMMA, 16).unwrap();
        let (mean, error, _) = differences(&known, &policy, &free);
        assert!(mean < -3.0 * error, "{name}: {mean} +- {error} goes unnoticed");
    }
}

#[test]
fn nothing_else_earns_more_but_foresight() {
    for known in all() {
        let name = known.kind().name;
        let config = config(&known);
        let optimum = known.optimum(&config).unwrap();
        assert!((log_return(&optimum.ledger, 0) - optimum.log_return).abs() < 1e-15);
        reconcile(&optimum.ledger).unwrap();
        let window = TestWindow::test(&known.market);
        assert_eq!(optimum.actions.len(), window.decisions());
        let device = Device::cpu();
        let backtest = Backtest::new(&device, DType::F32, &config, &known.market, window.clone()).unwrap();

        let ahead = backtest.strategy(&foresight(&known.market, &window).unwrap()).unwrap();
        assert!(log_return(&ahead, 0) > 1.1 * optimum.log_return, "{name}");
        assert!(optimum.regret(&ahead, 0) < -0.1);

        let constant = (0..ACTIONS).map(|a| vec![[(a / 3) as u8, 0, (a % 3) as u8]; window.decisions()]);
        let members = (0..ACTIONS as u64).map(|id| MemberInfo {
            id,
            label: format!("constant {id}"),
            seed: 0,
            reward_unit: 1.0,
        });
        let ledger = backtest
            .strategy(&Strategy {
                baseline: Some("constant".into()),
                members: members.collect(),
                seed: 0,
                actions: constant.collect(),
            })
            .unwrap();
        for m in 0..ACTIONS as u32 {
            assert!(
                optimum.regret(&ledger, m) > 0.5,
                "{name}: constant {m} has {}",
                optimum.regret(&ledger, m)
            );
        }

        let rules = &known.market.rules;
        let wrong = [
            ("myopic", known.policy(0.0)),
            ("costs x 0", known.policy_under(&rules.with_costs(0), GAMMA, 16)),
            ("costs x 3", known.policy_under(&rules.with_costs(3), GAMMA, 16)),
            ("costs x 10", known.policy_under(&rules.with_costs(10), GAMMA, 16)),
        ];
        let mut worse = 0;
        for (what, policy) in wrong {
            let policy = policy.unwrap();
            let played = known.play(&config, &window, what, |z, w| policy.action(z, w)).unwrap();
            assert!(played.log_return <= optimum.log_return, "{name}: {what}");
            worse += usize::from(played.log_return < 0.95 * optimum.log_return);
        }
        assert!(worse >= 2, "{name}: {worse} of the wrong policies are worse");
    }
}

/// What the same test says of another policy: late by a bar, it must earn less, or states would tell of the future.
#[test]
fn the_state_of_the_bar_before_is_worth_less() {
    for known in all() {
        let (config, window) = (config(&known), TestWindow::test(&known.market));
        let policy = known.policy(GAMMA).unwrap();
        let late = RefCell::new(None);
        let act = |z, w| policy.action(late.replace(Some(z)).unwrap_or(z), w);
        let delayed = known.play(&config, &window, "late", act).unwrap();
        let optimum = known.optimum(&config).unwrap();
        let regret = optimum.regret(&delayed.ledger, 0);
        assert!((0.01..1.5).contains(&regret), "{}: {regret}", known.kind().name);
    }
}

#[test]
fn where_the_spread_is_not_worth_it_nothing_is_traded() {
    let known = KnownMarket::new("mean-reversion", 1, Lengths::default()).unwrap();
    let rules = &known.market.rules;
    let policy = known.policy(GAMMA).unwrap();
    let twice = known.policy_under(&rules.with_costs(2), GAMMA, 16).unwrap();
    let middle = known.chain().states.len() / 2;
    let holds = |policy: &Policy, z: usize| {
        (-4..=4_i32).all(|q| i32::from(policy.action(z, f64::from(q) / 4.0)[0]) - 4 == q)
    };
    assert!(holds(&policy, middle) && !holds(&policy, middle - 1) && !holds(&policy, middle + 1));
    assert!((middle - 1..=middle + 1).all(|z| holds(&twice, z)), "a wider spread, a wider region");
    // Beyond it the answer is to be full, whatever is held.
    let wanted = |z: usize| [-1.0, 0.0, 1.0].map(|w| policy.action(z, w)[0]);
    assert_eq!((wanted(middle - 1), wanted(middle + 1)), ([8; 3], [0; 3]));
}

#[test]
fn paths_are_the_seed_s_and_caps_and_clamps_never_bind() {
    let lengths = Lengths { train: 2_000, validation: 500, test: 500 };
    let one = KnownMarket::new("drift", 1, lengths).unwrap();
    let same = KnownMarket::new("drift", 1, lengths).unwrap();
    let other = KnownMarket::new("drift", 2, lengths).unwrap();
    assert_eq!(one.market.table, same.market.table);
    assert_ne!(one.market.table, other.market.table);
    assert_eq!(one.states().len(), one.market.bars.len());
    let error = KnownMarket::new("martingale", 1, lengths).unwrap_err().to_string();
    assert!(error.contains("mean-reversion") && error.contains("martingale"), "{error}");
    for known in all() {
        let b = &known.market.bars;
        assert!(b.bid.open.iter().skip(1).zip(&b.bid.close).all(|(open, close)| open == close));
        assert!(b.bid.close.iter().all(|p| (50_000_000..200_000_000).contains(p)), "{}", known.kind().name);
    }
}
