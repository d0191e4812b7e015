//! Toy tasks with known answers (rl.md 26): the whole network, loss and optimiser, batches from the host.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Learner, Uniform, adam, outcome, small};
use foxhunt_core::DType;
use foxhunt_kernels::loss::{HeadShape, Outcome};

/// Three branches whose rewards add up, each with noise of the others' choice and of its own: under a uniform
/// behaviour Q of an action is its own mean plus the other branches' mean over their actions.
#[test]
fn a_bandit_of_three_branches_is_solved() {
    const MEANS: [&[f64]; 3] =
        [&[-0.8, 0.3, 0.1, 0.7, -0.2, 1.2, 0.5, -1.0, 0.0], &[0.2, -0.6, 0.7], &[0.5, 0.0, -0.4]];
    let best = [5, 2, 0];
    let average = |d: usize| MEANS[d].iter().sum::<f64>() / MEANS[d].len() as f64;
    let others = |d: usize| (0..3).filter(|o| *o != d).map(average).sum::<f64>();
    for (dtype, tolerance) in [(DType::F32, 0.15), (DType::Bf16, 0.2)] {
        let head = HeadShape { actions: vec![9, 3, 3], atoms: 21, v_min: -4.0, v_max: 4.0 };
        let batch = 128;
        let learner = Learner::new(dtype, small(8, head), (1, batch), &adam(2e-3, 0.05), 3);
        let mut dice = Uniform::new(11);
        let x = [1.0, 0.5, -0.5, 0.25, 0.0, 0.0, 0.0, 0.0].repeat(batch);
        for _ in 0..600 {
            let (mut actions, mut outcomes) = (Vec::new(), Vec::new());
            for _ in 0..batch {
                let chosen = [9, 3, 3].map(|n| dice.below(n));
                let noise = 0.6 * (dice.unit() - 0.5);
                let reward = noise + (0..3).map(|d| MEANS[d][chosen[d]]).sum::<f64>();
                actions.extend(chosen.map(|a| a as u8));
                outcomes.push(outcome(reward, 0.0, 1));
            }
            learner.write(&x, &x, &actions, &outcomes);
            learner.learn();
        }
        let (q, greedy) = learner.act(&x[..8]);
        assert_eq!(greedy, best, "{dtype}: {q:?}");
        let want: Vec<f64> = (0..3).flat_map(|d| MEANS[d].iter().map(move |m| m + others(d))).collect();
        let worst = q.iter().zip(&want).fold(0.0_f64, |w, (q, want)| w.max((f64::from(*q) - want).abs()));
        println!("bandit {dtype}: largest error of Q {worst:.3}");
        assert!(worst < tolerance, "{dtype}: off by {worst}: {q:?} {want:?}");
        let counters = learner.counters();
        assert_eq!((counters.step, counters.skipped), (600, 0));
    }
}

const STATES: usize = 20;
const LIMIT: usize = 30;
const GAMMA: f64 = 0.9;
const REWARD: f64 = 0.5;

fn one_hot(state: usize) -> impl Iterator<Item = f32> {
    (0..24).map(move |i| if i == state { 1.0 } else { 0.0 })
}

/// A transition of the chain: s, a, outcome, s'.
struct Row {
    state: usize,
    /// Any, drawn anew each time the row is, where `None`.
    action: Option<u8>,
    outcome: Outcome,
    next: usize,
}

/// s, a, s' of one step.
type Move = (usize, Option<u8>, usize);

/// One episode of the chain as n-step rows. The last state pays [`REWARD`] for staying; the limit of steps ends the
/// episode, as a truncation (the window bootstraps) or as a termination (it does not).
fn episode(moves: &[Move], n: usize, terminates: bool) -> Vec<Row> {
    let length = moves.len();
    (0..length)
        .map(|t| {
            let m = n.min(length - t);
            let value = (0..m)
                .map(|k| {
                    if moves[t + k].0 == STATES - 1 && moves[t + k].2 == STATES - 1 {
                        REWARD * GAMMA.powi(k as i32)
                    } else {
                        0.0
                    }
                })
                .sum();
            let ended = t + m == length && terminates;
            Row {
                state: moves[t].0,
                action: moves[t].1,
                outcome: outcome(value, if ended { 0.0 } else { GAMMA.powi(m as i32) }, m as u32),
                next: moves[t + m - 1].2,
            }
        })
        .collect()
}

/// Learns from `rows` and returns Q of every state, `[20, sum of actions]`.
fn learn(dtype: DType, actions: &[usize], rows: &[Row], steps: usize) -> (Vec<f32>, Vec<u8>) {
    let head = HeadShape { actions: actions.to_vec(), atoms: 33, v_min: -1.0, v_max: 7.0 };
    let batch = 64;
    let learner = Learner::new(dtype, small(24, head), (STATES, batch), &adam(2e-3, 0.1), 5);
    let mut dice = Uniform::new(17);
    for _ in 0..steps {
        let drawn: Vec<&Row> = (0..batch).map(|_| &rows[dice.below(rows.len())]).collect();
        let states: Vec<f32> = drawn.iter().flat_map(|r| one_hot(r.state)).collect();
        let next: Vec<f32> = drawn.iter().flat_map(|r| one_hot(r.next)).collect();
        let mut chosen = Vec::new();
        for row in &drawn {
            chosen.extend(actions.iter().map(|n| row.action.unwrap_or_else(|| dice.below(*n) as u8)));
        }
        let outcomes: Vec<Outcome> = drawn.iter().map(|r| r.outcome).collect();
        learner.write(&states, &next, &chosen, &outcomes);
        learner.learn();
    }
    let all: Vec<f32> = (0..STATES).flat_map(one_hot).collect();
    learner.act(&all)
}

/// A walk that no action stops or speeds up: on-policy, so that the value is known for any n. (Actions kept with their
/// rows would matter: Q learning would prefer those that happen not to be among the last steps of an episode.)
#[test]
fn a_time_limit_does_not_change_the_value_of_the_last_state() {
    let moves: Vec<Move> = (0..LIMIT).map(|t| (t.min(STATES - 1), None, (t + 1).min(STATES - 1))).collect();
    for (dtype, tolerance, ns) in [(DType::F32, 0.05, [1, 3].as_slice()), (DType::Bf16, 0.08, &[3])] {
        for &n in ns {
            for terminates in [false, true] {
                let rows = episode(&moves, n, terminates);
                // What the rows of the last state say of its value, V = mean of (R + discount V); with a truncation
                // that is the value of staying for ever.
                let last: Vec<&Row> = rows.iter().filter(|r| r.state == STATES - 1).collect();
                let mean = |f: fn(&Row) -> f64| last.iter().map(|r| f(r)).sum::<f64>() / last.len() as f64;
                let r = mean(|r| f64::from(r.outcome.return_q20) / f64::from(1 << 20));
                let discount = mean(|r| f64::from(r.outcome.discount_q31) / 2_f64.powi(31));
                let want = r / (1.0 - discount);
                let endless = REWARD / (1.0 - GAMMA);
                if terminates {
                    assert!(want < 0.6 * endless, "{want}");
                } else {
                    assert!((want - endless).abs() < 1e-4, "{want}");
                }

                let (q, _) = learn(dtype, &[9, 3, 3], &rows, 600);
                let value =
                    |s: usize| q[15 * s..15 * (s + 1)].iter().map(|x| f64::from(*x)).sum::<f64>() / 15.0;
                let got = value(STATES - 1);
                println!("chain {dtype}, n {n}, terminates {terminates}: {got:.3} for {want:.3}");
                // A terminated row is one in eleven, so how often an action met one is noise, and the largest Q prefers
                // those that met few.
                let tolerance = if terminates { 0.15 } else { tolerance };
                assert!((got - want).abs() < tolerance * want, "{dtype}, n {n}, {terminates}: {got} {want}");
                // The states before it are worth what is left of it after the way there.
                if !terminates {
                    for s in [15, 10] {
                        let want = endless * GAMMA.powi((STATES - 1 - s) as i32);
                        assert!(
                            (value(s) - want).abs() < 3.0 * tolerance * endless,
                            "{s}: {} {want}",
                            value(s)
                        );
                    }
                }
            }
        }
    }
}

/// One branch of three actions (back, stay, on), tried at random: greedy actions lead on, and truncation leaves the
/// last state its endless value.
#[test]
fn the_way_along_the_chain_is_found() {
    let mut dice = Uniform::new(31);
    for (dtype, tolerance) in [(DType::F32, 0.05), (DType::Bf16, 0.08)] {
        let rows: Vec<Row> = (0..80)
            .flat_map(|e| {
                let mut state = e % STATES;
                let moves: Vec<Move> = (0..LIMIT)
                    .map(|_| {
                        let action = dice.below(3);
                        let next = (state + action).saturating_sub(1).min(STATES - 1);
                        let row = (state, Some(action as u8), next);
                        state = next;
                        row
                    })
                    .collect();
                episode(&moves, 1, false)
            })
            .collect();
        let (q, greedy) = learn(dtype, &[3], &rows, 900);
        let endless = REWARD / (1.0 - GAMMA);
        let value = f64::from(q[3 * (STATES - 1)..].iter().fold(f32::MIN, |a, b| a.max(*b)));
        println!("chain {dtype}: {value:.3} for {endless:.3}, greedy {greedy:?}");
        assert!((value - endless).abs() < tolerance * endless, "{dtype}: {value}");
        // Both staying and going on keep the last state; before it only going on is best. Far away values are small
        // and the actions' difference is below the noise, so the near half is asked.
        assert!(greedy[STATES - 1] >= 1, "{greedy:?}");
        assert!(greedy[10..STATES - 1].iter().all(|a| *a == 2), "{dtype}: {greedy:?} {q:?}");
    }
}
