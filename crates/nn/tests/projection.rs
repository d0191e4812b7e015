//! The projection of C51 (rl.md 2) in the head kernel itself. With one branch of one action `l = V`, so the gradient of
//! V's logits is `(softmax(l) - m) / B`: with equal logits of s it gives m away.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Uniform, outcome};
use foxhunt_core::DType;
use foxhunt_device::{Command, Device};
use foxhunt_kernels::{
    Element,
    loss::{HeadInput, HeadLoss, HeadShape, LossTotal, Outcome, head_loss},
};
use foxhunt_nn::{Options, Plan};

/// A logit whose exponential is 0 beside one of 0.
const NOTHING: f32 = -120.0;

/// The target m of every row, for distributions `p` of s' and outcomes: `[rows][atoms]`.
fn targets(shape: &HeadShape, p: &[Vec<f64>], outcomes: &[Outcome]) -> Vec<Vec<f64>> {
    head(shape, p, outcomes).0
}

/// Targets, and what was counted.
fn head(shape: &HeadShape, p: &[Vec<f64>], outcomes: &[Outcome]) -> (Vec<Vec<f64>>, LossTotal) {
    let (rows, columns, atoms) = (p.len(), shape.logit_columns(), shape.atoms);
    let mut plan = Plan::new(DType::F32, 1);
    let online = plan.real_buffer("online", 2 * rows, columns);
    let target = plan.real_buffer("target", rows, columns);
    let actions = plan.buffer("actions", Element::U8, rows, 1);
    let outcome = plan.buffer("outcome", Element::of::<Outcome>(), rows, 1);
    let d_logits = plan.real_buffer("d.logits", rows, columns);
    let row_loss = plan.real_buffer("row loss", 1, rows);
    let total = plan.buffer("total", Element::of::<LossTotal>(), 1, 1);
    let head = shape.clone();
    plan.run_foreign("head", &[online, target, actions, outcome], &[d_logits, row_loss, total], move |cx| {
        let loss = HeadLoss {
            online: HeadInput::Logits(cx.view(online)),
            target: HeadInput::Logits(cx.view(target)),
            actions: cx.view(actions),
            outcome: cx.view(outcome),
            d_logits: cx.view(d_logits),
            row_loss: cx.view(row_loss),
            total: cx.view(total),
            mixture: true,
            portable: false,
        };
        Ok(vec![Command::Launch(head_loss(cx.dtype(), cx.members(), &head, &loss)?)])
    });
    let runtime = plan.compile(&Device::cpu(), Options { guard_bytes: 64 }).unwrap();
    // NaN wherever nothing is written: it would show in m.
    for t in [online, target, d_logits, row_loss] {
        runtime.fill(t, 0xff).unwrap();
    }
    let row = |logits: &[f64]| {
        let mut row = vec![0.0_f32; columns];
        for (x, l) in row.iter_mut().zip(logits) {
            *x = *l as f32;
        }
        row
    };
    let flat: Vec<f32> = (0..2 * rows).flat_map(|_| row(&vec![0.0; atoms])).collect();
    runtime.write(online, &flat).unwrap();
    let logs = |p: &Vec<f64>| -> Vec<f64> {
        p.iter().map(|p| if *p > 0.0 { p.ln() } else { f64::from(NOTHING) }).collect()
    };
    runtime.write(target, &p.iter().flat_map(|p| row(&logs(p))).collect::<Vec<f32>>()).unwrap();
    runtime.write_raw(actions, &vec![0_u8; rows]).unwrap();
    runtime.write_raw(outcome, outcomes).unwrap();
    runtime.run("main", 1).unwrap();
    runtime.check_guards().unwrap();
    let d = runtime.read(d_logits).unwrap();
    let gradients: Vec<&[f32]> = d.chunks(columns).map(|row| &row[..atoms]).collect();
    let m = gradients
        .iter()
        .map(|g| g.iter().map(|g| 1.0 / atoms as f64 - rows as f64 * f64::from(*g)).collect())
        .collect();
    (m, runtime.read_raw::<LossTotal>(total).unwrap()[0])
}

fn one_branch(atoms: usize, v_min: f32, v_max: f32) -> HeadShape {
    HeadShape { actions: vec![1], atoms, v_min, v_max }
}

fn assert_near(got: &[f64], want: &[f64]) {
    let near = got.iter().zip(want).all(|(a, b)| (a - b).abs() < 2e-6);
    assert!(got.len() == want.len() && near, "{got:?} for {want:?}");
}

fn random_pmf(dice: &mut Uniform, atoms: usize) -> Vec<f64> {
    let x: Vec<f64> = (0..atoms).map(|_| dice.unit().powi(2) + 1e-3).collect();
    let sum: f64 = x.iter().sum();
    x.iter().map(|x| x / sum).collect()
}

/// rlax `categorical_l2_project` and pfrl, as rl.md 2 has them.
#[test]
fn goldens_of_other_packages() {
    let three = one_branch(3, 0.0, 2.0);
    let any = vec![0.2, 0.5, 0.3];
    let m = targets(&three, &[any.clone(), any], &[outcome(0.5, 0.0, 1), outcome(1.0, 0.0, 1)]);
    assert_near(&m[0], &[0.5, 0.5, 0.0]);
    assert_near(&m[1], &[0.0, 1.0, 0.0]);
    let m = targets(&one_branch(5, -1.0, 1.0), &[vec![0.2; 5]], &[outcome(0.25, 1.0, 1)]);
    assert_near(&m[0], &[0.1, 0.2, 0.2, 0.2, 0.3]);
    let m = targets(&one_branch(51, -10.0, 10.0), &[vec![1.0 / 51.0; 51]], &[outcome(0.3, 0.0, 1)]);
    let mean: f64 = m[0].iter().enumerate().map(|(i, m)| m * (-10.0 + 0.4 * i as f64)).sum();
    assert!((m[0].iter().sum::<f64>() - 1.0).abs() < 1e-6 && (mean - 0.3).abs() < 1e-5, "{mean}");
    // 0.3 lies between atoms 25 (0.0) and 26 (0.4).
    assert_near(&m[0][25..27], &[0.25, 0.75]);
}

#[test]
fn edge_cases() {
    let mut dice = Uniform::new(1);
    for (atoms, v) in [(51, 10.0), (21, 0.3), (2, 1.0)] {
        let shape = one_branch(atoms, -v, v);
        let dz = 2.0 * f64::from(v) / (atoms - 1) as f64;
        let p = random_pmf(&mut dice, atoms);
        let mut outcomes = vec![
            outcome(0.0, 1.0, 1),                  // identity
            outcome(5.0 * f64::from(v), 1.0, 1),   // all above
            outcome(-5.0 * f64::from(v), 0.99, 1), // all below
            outcome(2047.0, 0.0, 1),               // the largest return
            outcome(-2047.0, 0.0, 1),
            outcome(f64::from(v), 0.0, 1), // exactly the ends
            outcome(-f64::from(v), 0.0, 1),
        ];
        // b exactly an integer, where the fixed point holds the step exactly.
        let exact = dz * f64::from(1 << 20) == (dz * f64::from(1 << 20)).round();
        if exact {
            outcomes.push(outcome(dz, 1.0, 1));
        }
        let m = targets(&shape, &vec![p.clone(); outcomes.len()], &outcomes);
        let delta = |at: usize| -> Vec<f64> { (0..atoms).map(|i| f64::from(u8::from(i == at))).collect() };
        assert_near(&m[0], &p);
        for (row, at) in [(1, atoms - 1), (2, 0), (3, atoms - 1), (4, 0), (5, atoms - 1), (6, 0)] {
            let slack = m[row].iter().zip(delta(at)).fold(0.0_f64, |w, (a, b)| w.max((a - b).abs()));
            // The ends themselves: 0.3 is not a fixed-point number, and b is off by its rounding over dz.
            let allowed = if row >= 5 { 2e-6 + 2_f64.powi(-20) / dz } else { 2e-6 };
            assert!(slack < allowed, "{atoms} atoms, row {row}: {:?}", m[row]);
        }
        if exact {
            let mut shifted = vec![0.0; atoms];
            for (i, p) in p.iter().enumerate() {
                shifted[(i + 1).min(atoms - 1)] += p;
            }
            assert_near(&m[7], &shifted);
        }
    }
    // b an integer at every atom of a grid that binary holds.
    let shape = one_branch(33, -4.0, 4.0);
    let returns: Vec<Outcome> = (0..33).map(|i| outcome(-4.0 + 0.25 * f64::from(i), 0.0, 1)).collect();
    let p = random_pmf(&mut dice, 33);
    for (i, m) in targets(&shape, &vec![p; 33], &returns).iter().enumerate() {
        assert!((m[i] - 1.0).abs() < 2e-6, "atom {i}: {m:?}");
    }
}

/// Mass and mean are kept in all 320 settings, nothing is negative, and each is the distribution that F64 projects.
#[test]
fn mass_and_mean_are_kept() {
    let mut dice = Uniform::new(7);
    let (mut settings, mut worst) = (0, [0.0_f64; 3]);
    for atoms in [2, 5, 21, 51] {
        for (v_min, v_max) in [(-0.3_f32, 0.3_f32), (-10.0, 10.0), (-1.0, 7.0), (0.0, 100.0)] {
            let (low, high) = (f64::from(v_min), f64::from(v_max));
            let mut outcomes = Vec::new();
            for reward in [0.0, 0.37, -0.61, 3.0, -3.0] {
                for discount in [0.0, 0.9, 0.99_f64.powi(3), 1.0] {
                    outcomes.push(outcome(reward * (high - low) / 2.0, discount, 1));
                }
            }
            let p: Vec<Vec<f64>> = outcomes.iter().map(|_| random_pmf(&mut dice, atoms)).collect();
            let z = |i: usize| low + (high - low) * i as f64 / (atoms - 1) as f64;
            for ((m, p), o) in
                targets(&one_branch(atoms, v_min, v_max), &p, &outcomes).iter().zip(&p).zip(&outcomes)
            {
                let (r, g) = (
                    f64::from(o.return_q20) / f64::from(1 << 20),
                    f64::from(o.discount_q31) / 2_f64.powi(31),
                );
                let want: f64 = p.iter().enumerate().map(|(i, p)| p * (r + g * z(i)).clamp(low, high)).sum();
                let mean: f64 = m.iter().enumerate().map(|(i, m)| m * z(i)).sum();
                worst[0] = worst[0].max((m.iter().sum::<f64>() - 1.0).abs());
                worst[1] = worst[1].max((mean - want).abs() / (high - low));
                assert!(m.iter().all(|m| *m > -2e-6), "{m:?}");
                let mut exact = vec![0.0; atoms];
                for (i, p) in p.iter().enumerate() {
                    let b = (r + g * z(i)).clamp(low, high) - low;
                    let b = b / (high - low) * (atoms - 1) as f64;
                    let at = (b.floor() as usize).min(atoms - 2);
                    exact[at] += p * (1.0 - (b - at as f64));
                    exact[at + 1] += p * (b - at as f64);
                }
                let term = |(e, m): (&f64, &f64)| if *e > 0.0 { e * (e / m.max(1e-9)).ln() } else { 0.0 };
                worst[2] = worst[2].max(exact.iter().zip(m).map(term).sum::<f64>());
                settings += 1;
            }
        }
    }
    println!(
        "{settings} settings: mass within {:.1e}, mean within {:.1e} of the range, divergence {:.1e}",
        worst[0], worst[1], worst[2]
    );
    assert_eq!(settings, 320);
    // m is read off a gradient: N differences of F32 numbers near 1 / N, each off by 3e-8 or so times the batch of 20.
    assert!(worst[0] < 5e-6 && worst[1] < 5e-6 && worst[2] < 2e-5, "{worst:?}");
}

/// A row counts where the mean of r + discount z lies beyond the support, whatever part of it is clipped.
#[test]
fn returns_beyond_the_support_are_counted() {
    let shape = one_branch(51, -10.0, 10.0);
    let at = |atom: usize| -> Vec<f64> { (0..51).map(|i| f64::from(u8::from(i == atom))).collect() };
    let even = vec![1.0 / 51.0; 51];
    let ends: Vec<f64> = (0..51).map(|i| if i == 0 || i == 50 { 0.5 } else { 0.0 }).collect();
    let rows = [
        // Nothing of it is clipped, or half of the mass, or all but the mean.
        (at(25), outcome(0.0, 1.0, 1), false),
        (ends.clone(), outcome(1.0, 1.0, 1), false),
        (even.clone(), outcome(9.9, 1.0, 1), false),
        (even.clone(), outcome(10.1, 1.0, 1), true),
        (even, outcome(-10.1, 1.0, 1), true),
        (ends, outcome(-10.5, 0.5, 1), true),
        // A return that ends the episode: the ends belong to the support.
        (at(0), outcome(10.0, 0.0, 1), false),
        (at(50), outcome(-10.0, 0.0, 1), false),
        (at(0), outcome(10.001, 0.0, 1), true),
        (at(50), outcome(-10.001, 0.0, 1), true),
        // A Q at the edge with more to come is beyond it, unless the discount takes it back.
        (at(50), outcome(0.2, 0.99, 1), true),
        (at(50), outcome(0.05, 0.99, 1), false),
        (at(0), outcome(-0.2, 0.99, 1), true),
    ];
    for (p, outcome, beyond) in &rows {
        let (_, total) = head(&shape, std::slice::from_ref(p), &[*outcome]);
        assert_eq!((total.rows, total.bad, total.edge), (1, 0, u64::from(*beyond)), "{outcome:?}");
    }
    // More rows than a team has.
    let many: Vec<_> = rows.iter().cycle().take(40).collect();
    let (p, outcomes): (Vec<_>, Vec<_>) = many.iter().map(|(p, o, _)| (p.clone(), *o)).unzip();
    let want = many.iter().filter(|(_, _, beyond)| *beyond).count() as u64;
    let (_, total) = head(&shape, &p, &outcomes);
    assert_eq!((total.rows, total.bad, total.edge), (40, 0, want));
}
