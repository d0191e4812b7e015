//! What must hold for a branching dueling double Q-network whatever its weights (rl.md 1 to 3).
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Learner, Uniform, adam, outcome, small, softmax};
use foxhunt_core::DType;
use foxhunt_kernels::loss::{HeadShape, Outcome};
use foxhunt_nn::net::BranchingQConfig;

const INPUTS: usize = 16;
const BATCH: usize = 20;
const ATOMS: usize = 21;

fn head(actions: &[usize]) -> HeadShape {
    HeadShape { actions: actions.to_vec(), atoms: ATOMS, v_min: -5.0, v_max: 5.0 }
}

/// States of a batch, s and s', and its outcomes: terminated, one-step and three-step rows.
fn batch(seed: u64) -> (Vec<f32>, Vec<f32>, Vec<Outcome>) {
    let mut dice = Uniform::new(seed);
    let mut states = || (0..BATCH * INPUTS).map(|_| dice.within(1.5)).collect::<Vec<f32>>();
    let (s, next) = (states(), states());
    let mut dice = Uniform::new(seed ^ 1);
    let outcomes =
        (0..BATCH).map(|i| outcome(f64::from(dice.within(6.0)), [0.0, 0.9, 0.729][i % 3], 1)).collect();
    (s, next, outcomes)
}

fn actions(seed: u64, branches: &[usize]) -> Vec<u8> {
    let mut dice = Uniform::new(seed);
    (0..BATCH).flat_map(|_| branches.iter().map(|n| dice.below(*n) as u8).collect::<Vec<_>>()).collect()
}

/// A learner whose weights are wide enough that actions differ, and whose target is another net.
fn learner(dtype: DType, config: BranchingQConfig) -> Learner {
    learner_at(dtype, config, 1e-4)
}

fn learner_at(dtype: DType, config: BranchingQConfig, learning_rate: f64) -> Learner {
    let learner = Learner::new(dtype, config, (BATCH, BATCH), &adam(learning_rate, 0.0), 9);
    for (image, seed) in [(learner.net.weight, 9), (learner.net.target, 10)] {
        let wide: Vec<f32> = learner.net.initial_image(seed).iter().map(|x| 2.5 * x).collect();
        learner.runtime.write(image, &wide).unwrap();
    }
    learner
}

#[test]
fn a_constant_in_the_advantages_changes_nothing() {
    for (dtype, tolerance) in [(DType::F32, 2e-5), (DType::Bf16, 4e-2)] {
        let learner = learner(dtype, small(INPUTS, head(&[9, 3, 3])));
        let (s, ..) = batch(1);
        let (before, greedy) = learner.act(&s);
        // A constant per atom, the same for every action of a branch; another one for each branch.
        let mut bias = learner.logical(learner.net.weight, "b_head");
        let first = |d: usize| [1, 10, 13, 16][d];
        for d in 0..3 {
            for unit in first(d)..first(d + 1) {
                for i in 0..ATOMS {
                    bias[unit * ATOMS + i] += (d as f32 + 1.0) * ((i * i % 7) as f32 - 3.0) * 0.25;
                }
            }
        }
        learner.set_logical(learner.net.weight, "b_head", &bias);
        let (after, greedy_after) = learner.act(&s);
        let moved = before.iter().zip(&after).fold(0.0_f32, |w, (a, b)| w.max((a - b).abs()));
        println!("constant in A, {dtype}: Q moves by {moved:.1e}");
        assert!(moved < tolerance, "{dtype}: {moved}");
        if dtype == DType::F32 {
            assert_eq!(greedy, greedy_after);
        }
        // One action alone is not a constant: Q must move.
        bias[ATOMS] += 2.0;
        learner.set_logical(learner.net.weight, "b_head", &bias);
        let (after, _) = learner.act(&s);
        assert!(before.iter().zip(&after).any(|(a, b)| (a - b).abs() > 0.02));
    }
}

/// `l[action][atom]` of the branches of one row in F64: the textbook's network, from the logical weights.
fn reference(learner: &Learner, target: bool, x: &[f32]) -> Vec<Vec<Vec<f64>>> {
    let image = if target { learner.net.target } else { learner.net.weight };
    let get = |name: &str| -> Vec<f64> { learner.logical(image, name).into_iter().map(f64::from).collect() };
    let layer = |x: &[f64], w: &[f64], b: &[f64]| -> Vec<f64> {
        let rows = w.chunks(x.len()).zip(b);
        rows.map(|(w, b)| (b + w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()).max(0.0)).collect()
    };
    let x: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    let h = layer(&x, &get("w_s1"), &get("b_s1"));
    let h = layer(&h, &get("w_s2"), &get("b_s2"));
    let h = layer(&h, &get("w_streams"), &get("b_streams"));
    let (w, b, width) = (get("w_head"), get("b_head"), learner.config.stream);
    let unit = |stream: usize, unit: usize| -> Vec<f64> {
        let h = &h[stream * width..(stream + 1) * width];
        (unit * ATOMS..(unit + 1) * ATOMS)
            .map(|row| {
                b[row] + w[row * width..(row + 1) * width].iter().zip(h).map(|(w, h)| w * h).sum::<f64>()
            })
            .collect()
    };
    let v = unit(0, 0);
    let shape = &learner.config.head;
    (0..shape.actions.len())
        .map(|d| {
            let (first, n) = shape.stream_units(1 + d);
            let a: Vec<Vec<f64>> = (first..first + n).map(|u| unit(1 + d, u)).collect();
            let mean = |i: usize| a.iter().map(|a| a[i]).sum::<f64>() / n as f64;
            a.iter().map(|a| (0..ATOMS).map(|i| v[i] + a[i] - mean(i)).collect()).collect()
        })
        .collect()
}

fn value(l: &[f64]) -> f64 {
    softmax(l).iter().enumerate().map(|(i, p)| p * (-5.0 + 0.5 * i as f64)).sum()
}

fn argmax(l: &[Vec<f64>]) -> usize {
    let q: Vec<f64> = l.iter().map(|l| value(l)).collect();
    (0..q.len()).fold(0, |best, k| if q[k] > q[best] { k } else { best })
}

/// Scatter form, as papers have it.
fn project(p: &[f64], o: Outcome) -> Vec<f64> {
    let (r, g) = (f64::from(o.return_q20) / f64::from(1 << 20), f64::from(o.discount_q31) / 2_f64.powi(31));
    let mut m = vec![0.0; ATOMS];
    for (j, p) in p.iter().enumerate() {
        let b = ((r + g * (-5.0 + 0.5 * j as f64) + 5.0) / 0.5).clamp(0.0, (ATOMS - 1) as f64);
        let l = b.floor() as usize;
        m[l] += p * (1.0 - b + l as f64);
        m[(l + 1).min(ATOMS - 1)] += p * (b - l as f64);
    }
    m
}

fn cross_entropy(l: &[f64], m: &[f64]) -> f64 {
    -softmax(l).iter().zip(m).map(|(p, m)| m * p.ln()).sum::<f64>()
}

/// One branch: Q, the double-DQN target and the loss are those of a dueling C51, whose action for s' the online net
/// chooses; and, with equal nets, those of plain DQN, which has one net for both.
#[test]
fn one_branch_is_a_dueling_network_and_targets_are_double() {
    let learner = learner(DType::F32, small(INPUTS, head(&[7])));
    let (s, next, outcomes) = batch(2);
    let chosen = actions(3, &[7]);
    let (q, greedy) = learner.act(&s);
    for (r, x) in s.chunks(INPUTS).enumerate() {
        let l = &reference(&learner, false, x)[0];
        for (k, l) in l.iter().enumerate() {
            assert!((f64::from(q[7 * r + k]) - value(l)).abs() < 2e-5, "row {r}, action {k}");
        }
        assert_eq!(usize::from(greedy[r]), argmax(l));
    }

    // Losses of one batch, with the action for s' chosen by the online or by the target net.
    let want = |online_chooses: bool| -> Vec<f64> {
        (0..BATCH)
            .map(|r| {
                let x = |of: &[f32]| of[r * INPUTS..(r + 1) * INPUTS].to_vec();
                let later = reference(&learner, true, &x(&next)).remove(0);
                let chooser = if online_chooses {
                    reference(&learner, false, &x(&next)).remove(0)
                } else {
                    later.clone()
                };
                let m = project(&softmax(&later[argmax(&chooser)]), outcomes[r]);
                cross_entropy(&reference(&learner, false, &x(&s))[0][usize::from(chosen[r])], &m)
            })
            .collect()
    };
    let near = |got: &[f32], want: &[f64]| {
        got.iter().zip(want).all(|(a, b)| (f64::from(*a) - b).abs() < 2e-5 * (1.0 + b.abs()))
    };
    let (double, plain) = (want(true), want(false));
    let differ = double.iter().zip(&plain).filter(|(a, b)| (**a - **b).abs() > 1e-3).count();
    assert!(differ >= 5, "the two nets must disagree on s': {differ}");
    learner.write(&s, &next, &chosen, &outcomes);
    learner.learn();
    let got = learner.losses();
    assert!(near(&got, &double), "{got:?} for {double:?}");
    assert!(!near(&got, &plain));

    // The same net twice: double DQN is DQN.
    let image = learner.runtime.read(learner.net.weight).unwrap();
    learner.runtime.write(learner.net.target, &image).unwrap();
    let plain: Vec<f64> = (0..BATCH)
        .map(|r| {
            let x = |of: &[f32]| of[r * INPUTS..(r + 1) * INPUTS].to_vec();
            let later = reference(&learner, true, &x(&next)).remove(0);
            let best = (0..7).map(|k| value(&later[k])).fold(f64::MIN, f64::max);
            let m =
                project(&softmax(&later[(0..7).find(|k| value(&later[*k]) == best).unwrap()]), outcomes[r]);
            cross_entropy(&reference(&learner, false, &x(&s))[0][usize::from(chosen[r])], &m)
        })
        .collect();
    learner.learn();
    let got = learner.losses();
    assert!(near(&got, &plain), "{got:?} for {plain:?}");
}

/// Branches in another order, each with its stream: the same values in another order, and the same gradient of the
/// trunk, up to the order in which streams add to it.
#[test]
fn permuted_branches_give_permuted_values() {
    for (dtype, tolerance) in [(DType::F32, 2e-6), (DType::Bf16, 2e-2)] {
        let order = [2, 0, 1];
        let sizes = [9, 2, 4];
        let permuted = order.map(|d| sizes[d]);
        let a = learner(dtype, small(INPUTS, head(&sizes)));
        let b = learner(dtype, small(INPUTS, head(&permuted)));
        let width = a.config.stream;
        // Rows of a parameter that belong to stream 0, then 1 + d: in this order for the second net.
        let streams = [0, 1 + order[0], 1 + order[1], 1 + order[2]];
        let units = |s: usize| a.config.head.stream_units(s);
        for (of, to) in [(a.net.weight, b.net.weight), (a.net.target, b.net.target)] {
            for name in ["w_s1", "b_s1", "w_s2", "b_s2"] {
                b.set_logical(to, name, &a.logical(of, name));
            }
            for (name, per_stream) in [("w_streams", width * 32), ("b_streams", width)] {
                let x = a.logical(of, name);
                let moved: Vec<f32> =
                    streams.iter().flat_map(|s| x[s * per_stream..(s + 1) * per_stream].to_vec()).collect();
                b.set_logical(to, name, &moved);
            }
            for (name, per_unit) in [("w_head", ATOMS * width), ("b_head", ATOMS)] {
                let x = a.logical(of, name);
                let rows =
                    |s: &usize| x[units(*s).0 * per_unit..(units(*s).0 + units(*s).1) * per_unit].to_vec();
                b.set_logical(to, name, &streams.iter().flat_map(rows).collect::<Vec<f32>>());
            }
        }
        let (s, next, outcomes) = batch(4);
        let (qa, ga) = a.act(&s);
        let (qb, gb) = b.act(&s);
        for r in 0..BATCH {
            let row = &qa[15 * r..15 * (r + 1)];
            let branch = |d: usize| row[units(1 + d).0 - 1..][..sizes[d]].to_vec();
            let want: Vec<f32> = order.iter().flat_map(|d| branch(*d)).collect();
            let got = &qb[15 * r..15 * (r + 1)];
            assert!(
                got.iter().zip(&want).all(|(x, y)| (x - y).abs() <= 1e-6 * (1.0 + y.abs())),
                "{got:?} {want:?}"
            );
            assert_eq!(order.map(|d| ga[3 * r + d]), gb[3 * r..3 * r + 3]);
        }
        let chosen = actions(5, &sizes);
        let moved: Vec<u8> = chosen.chunks(3).flat_map(|row| order.map(|d| row[d])).collect();
        a.write(&s, &next, &chosen, &outcomes);
        b.write(&s, &next, &moved, &outcomes);
        a.learn();
        b.learn();
        let (la, lb) = (a.losses(), b.losses());
        let close = |x: &[f32], y: &[f32]| {
            let scale = y.iter().fold(0.0_f32, |w, y| w.max(y.abs()));
            x.iter().zip(y).all(|(x, y)| (x - y).abs() <= tolerance * scale)
        };
        assert!(close(&la, &lb), "{la:?} {lb:?}");
        for name in ["w_s1", "b_s1", "w_s2", "b_s2"] {
            let (x, y) = (a.logical(a.net.gradient, name), b.logical(b.net.gradient, name));
            assert!(y.iter().any(|y| *y != 0.0) && close(&x, &y), "{dtype}: gradient of {name}");
        }
    }
}

/// The trunk takes 1 / (D + 1) of what the streams send, exactly (D + 1 is a power of two here); streams and head take
/// all of it.
#[test]
fn the_trunk_takes_a_share_of_the_gradient() {
    for dtype in DType::ALL {
        let config = small(INPUTS, head(&[9, 3, 3]));
        assert_eq!(config.trunk_gradient_scale, 0.25);
        let whole = learner(dtype, BranchingQConfig { trunk_gradient_scale: 1.0, ..config.clone() });
        let share = learner(dtype, config);
        let (s, next, outcomes) = batch(6);
        for l in [&whole, &share] {
            l.write(&s, &next, &actions(7, &[9, 3, 3]), &outcomes);
            l.learn();
        }
        for (name, factor) in [
            ("w_s1", 0.25),
            ("b_s1", 0.25),
            ("w_s2", 0.25),
            ("b_s2", 0.25),
            ("w_streams", 1.0),
            ("b_streams", 1.0),
            ("w_head", 1.0),
            ("b_head", 1.0),
        ] {
            let want: Vec<f32> = whole.logical(whole.net.gradient, name).iter().map(|g| factor * g).collect();
            let got = share.logical(share.net.gradient, name);
            assert!(got.iter().any(|g| *g != 0.0), "{name}");
            assert_eq!(got, want, "{dtype}: {name}");
        }
    }
}

/// s' is a constant: no gradient reaches it through either net, and a terminated row does not depend on it at all.
#[test]
fn no_gradient_flows_to_the_next_state() {
    for dtype in DType::ALL {
        let learner = learner(dtype, small(INPUTS, head(&[9, 3, 3])));
        let (s, next, outcomes) = batch(8);
        learner.write(&s, &next, &actions(9, &[9, 3, 3]), &outcomes);
        learner.learn();
        let d = learner.input_gradient();
        let (of_s, of_next) = d.split_at(BATCH * INPUTS);
        assert!(of_s.chunks(INPUTS).all(|row| row.iter().any(|g| *g != 0.0)));
        assert!(of_next.iter().all(|g| g.to_bits() == 0), "{dtype}");

        let ended = vec![outcome(1.5, 0.0, 1); BATCH];
        let other: Vec<f32> = next.iter().map(|x| 3.0 - x).collect();
        let gradient = |next: &[f32]| {
            let learner =
                common::Learner::new(dtype, learner.config.clone(), (BATCH, BATCH), &adam(1e-4, 0.0), 12);
            learner.write(&s, next, &actions(9, &[9, 3, 3]), &ended);
            learner.learn();
            (learner.losses(), learner.runtime.read(learner.net.gradient).unwrap())
        };
        let ((la, ga), (lb, gb)) = (gradient(&next), gradient(&other));
        let largest = ga.iter().fold(0.0_f32, |w, g| w.max(g.abs()));
        let moved = ga.iter().zip(&gb).fold(0.0_f32, |w, (a, b)| w.max((a - b).abs()));
        // The projection collapses whatever distribution s' has, whose mass is 1 but for rounding.
        let allowed = if dtype == DType::F32 { 1e-5 } else { 1e-2 };
        assert!(moved <= allowed * largest, "{dtype}: {moved} of {largest}");
        assert!(la.iter().zip(&lb).all(|(a, b)| (a - b).abs() <= allowed * a.abs()));
    }
}

/// Rewards are integers and cannot be NaN; a state can. The batch is refused: the step is counted as skipped, and no
/// byte of weights, moments or target changes; the next good step is the first.
#[test]
fn a_nan_is_refused_and_counted() {
    for dtype in DType::ALL {
        let config = small(INPUTS, head(&[9, 3, 3]));
        let made = || Learner::new(dtype, config.clone(), (BATCH, BATCH), &adam(1e-3, 0.05), 13);
        let (s, next, outcomes) = batch(10);
        let chosen = actions(11, &[9, 3, 3]);
        let state = |l: &Learner| -> Vec<Vec<u8>> {
            let n = &l.net;
            [n.weight, n.m, n.v, n.target].map(|t| l.runtime.read_bytes(t).unwrap()).into()
        };
        for (bad_next, poison) in [(false, f32::NAN), (true, f32::NAN), (true, f32::INFINITY)] {
            let learner = made();
            let before = state(&learner);
            let (mut s_bad, mut next_bad) = (s.clone(), next.clone());
            // Row 1 bootstraps.
            if bad_next {
                next_bad[INPUTS + 2] = poison
            } else {
                s_bad[INPUTS + 2] = poison
            }
            learner.write(&s_bad, &next_bad, &chosen, &outcomes);
            learner.learn();
            assert_eq!(state(&learner), before, "{dtype}");
            let (counters, total) = (learner.counters(), learner.total());
            assert_eq!((counters.step, counters.skipped, counters.beta1_power), (1, 1, 0), "{dtype}");
            assert_eq!((total.rows, total.bad), (BATCH as u64 - 1, 1));
            learner.write(&s, &next, &chosen, &outcomes);
            learner.learn();
            let counters = learner.counters();
            assert_eq!((counters.step, counters.skipped), (2, 1));
            assert_ne!(state(&learner), before);
            // In F32 nothing depends on the step's number but the powers of beta, which have not moved.
            if dtype == DType::F32 {
                let fresh = made();
                fresh.write(&s, &next, &chosen, &outcomes);
                fresh.learn();
                assert_eq!(state(&learner), state(&fresh));
            }
        }
    }
}

/// The whole network's gradient against finite differences of its loss: in directions that move all weights of one
/// parameter at once. A learning rate of nothing leaves the weights where they are put.
#[test]
fn the_gradient_is_that_of_finite_differences() {
    let config = BranchingQConfig { trunk_gradient_scale: 1.0, ..small(INPUTS, head(&[9, 3, 3])) };
    let learner = learner_at(DType::F32, config, 0.0);
    let (s, next, outcomes) = batch(5);
    let actions = actions(6, &[9, 3, 3]);
    learner.write(&s, &next, &actions, &outcomes);
    let rows = || learner.losses().iter().map(|x| f64::from(*x)).sum::<f64>() / BATCH as f64;
    for (n, p) in learner.net.params.clone().iter().enumerate() {
        let name = &p.spec.name;
        let base = learner.logical(learner.net.weight, name);
        learner.learn();
        let gradient = learner.logical(learner.net.gradient, name);
        let mut dice = Uniform::new(70 + n as u64);
        for _ in 0..3 {
            let d: Vec<f64> = base.iter().map(|_| f64::from(dice.within(1.0))).collect();
            let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
            // Long enough that the loss moves well beyond F32's rounding, short enough that it is straight.
            let h = 4e-3;
            let loss_at = |sign: f64| {
                let moved: Vec<f32> = base
                    .iter()
                    .zip(&d)
                    .map(|(w, d)| (f64::from(*w) + sign * h * d / length) as f32)
                    .collect();
                learner.set_logical(learner.net.weight, name, &moved);
                learner.learn();
                rows()
            };
            let difference = (loss_at(1.0) - loss_at(-1.0)) / (2.0 * h);
            learner.set_logical(learner.net.weight, name, &base);
            let along: f64 = gradient.iter().zip(&d).map(|(g, d)| f64::from(*g) * d).sum::<f64>() / length;
            let scale = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt()
                / (gradient.len() as f64).sqrt();
            assert!(
                (along - difference).abs() <= 2e-2 * (along.abs() + scale) + 2e-4,
                "{name}: gradient {along:e}, difference {difference:e}, rms {scale:e}"
            );
        }
    }
}
