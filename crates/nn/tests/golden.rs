//! The whole training step against automatic differentiation in F64: `scripts/golden/jax_step.py` made the numbers.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Learner, outcome, small};
use foxhunt_core::DType;
use foxhunt_kernels::{
    loss::{HeadShape, Outcome},
    optim::AdamSettings,
};
use std::collections::BTreeMap;

const BATCH: usize = 16;
const INPUTS: usize = 24;

#[derive(serde::Deserialize)]
struct Golden {
    losses: Vec<f64>,
    gradient_norms: Vec<f64>,
    first_row_losses: Vec<f64>,
    weight_sums: BTreeMap<String, f64>,
    target_sums: BTreeMap<String, f64>,
}

/// The script's `values`: numbers in -1 to 1, a hash of tag and index.
fn values(tag: u32, n: usize) -> impl Iterator<Item = f64> {
    (0..n as u32).map(move |i| {
        let mut h = i.wrapping_mul(2_654_435_761).wrapping_add(tag * 40_503 + 12_345);
        h = (h ^ (h >> 15)).wrapping_mul(2_246_822_519);
        h = (h ^ (h >> 13)).wrapping_mul(3_266_489_917);
        f64::from(h ^ (h >> 16)) / 2_f64.powi(31) - 1.0
    })
}

#[test]
fn the_first_losses_are_those_of_an_independent_step() {
    let golden: Golden = serde_json::from_str(include_str!("golden/step.json")).unwrap();
    // Relative. F32: sums of a few thousand terms, each rounded at 6e-8. BF16: weights, inputs and activations are
    // rounded at 2e-3 each, the weights once more at every step.
    for (dtype, loss_tolerance, row_tolerance, norm_tolerance) in
        [(DType::F32, 2e-6, 4e-6, 1e-5), (DType::Bf16, 2e-3, 8e-3, 1e-2)]
    {
        let head = HeadShape { actions: vec![9, 3, 3], atoms: 51, v_min: -10.0, v_max: 10.0 };
        let settings = AdamSettings { learning_rate: 3e-3, clip: 0.3, tau: 0.05, ..AdamSettings::DEFAULT };
        let learner = Learner::new(dtype, small(INPUTS, head), (1, BATCH), &settings, 1);
        let scales = [0.35, 0.2, 0.3, 0.2, 0.3, 0.2, 0.4, 0.5];
        let params: Vec<(String, usize)> = learner
            .net
            .params
            .iter()
            .map(|p| {
                (p.spec.name.clone(), p.spec.parts.iter().map(|part| part.rows).sum::<usize>() * p.spec.cols)
            })
            .collect();
        for (i, ((name, n), scale)) in params.iter().zip(scales).enumerate() {
            for (first_tag, image) in [(0, learner.net.weight), (10, learner.net.target)] {
                let logical: Vec<f32> =
                    values(first_tag + i as u32, *n).map(|x| (scale * x) as f32).collect();
                learner.set_logical(image, name, &logical);
            }
        }
        let x: Vec<f32> = values(20, 2 * BATCH * INPUTS).map(|x| x as f32).collect();
        let actions: Vec<u8> = values(21, 3 * BATCH)
            .zip([9.0, 3.0, 3.0].into_iter().cycle())
            .map(|(x, n)| ((x + 1.0) / 2.0 * n) as u8)
            .collect();
        let outcomes: Vec<Outcome> = values(22, BATCH)
            .enumerate()
            .map(|(i, x)| outcome(12.0 * x, [0.0, 0.99, 0.99_f64.powi(3)][i % 3], 1))
            .collect();
        learner.write(&x[..BATCH * INPUTS], &x[BATCH * INPUTS..], &actions, &outcomes);

        let near = |what: &str, got: f64, want: f64, tolerance: f64| {
            let error = (got - want).abs() / want.abs();
            assert!(error < tolerance, "{dtype} {what}: {got} for {want}, off by {error:.1e}");
            error
        };
        let mut worst = [0.0_f64; 2];
        for (step, (loss, norm)) in golden.losses.iter().zip(&golden.gradient_norms).enumerate() {
            learner.learn();
            let rows: Vec<f64> = learner.losses().iter().map(|x| f64::from(*x)).collect();
            if step == 0 {
                for (row, (got, want)) in rows.iter().zip(&golden.first_row_losses).enumerate() {
                    // A stored row loss is rounded on its own.
                    near(&format!("loss of row {row}"), *got, *want, row_tolerance);
                }
            }
            let total = learner.total();
            let sum = total.loss_q32 as f64 / 2_f64.powi(32) / BATCH as f64
                - golden.losses[..step].iter().sum::<f64>();
            worst[0] = worst[0].max(near(
                &format!("loss of step {step}"),
                sum,
                *loss,
                loss_tolerance * (step + 1) as f64,
            ));
            let g: Vec<f64> = params
                .iter()
                .flat_map(|(name, _)| learner.logical(learner.net.gradient, name))
                .map(f64::from)
                .collect();
            let length = g.iter().map(|x| x * x).sum::<f64>().sqrt();
            worst[1] =
                worst[1].max(near(&format!("gradient norm of step {step}"), length, *norm, norm_tolerance));
        }
        println!("golden {dtype}: loss within {:.1e}, gradient norm within {:.1e}", worst[0], worst[1]);
        for (image, sums) in
            [(learner.net.weight, &golden.weight_sums), (learner.net.target, &golden.target_sums)]
        {
            for (name, n) in &params {
                let got: f64 = learner.logical(image, name).iter().map(|x| f64::from(*x)).sum();
                // Rounding errors of n weights of about 0.2 add up like their root.
                let allowed = (*n as f64).sqrt() * if dtype == DType::F32 { 2e-6 } else { 4e-3 };
                assert!(
                    (got - sums[name]).abs() < allowed,
                    "{dtype} sum of {name}: {got} for {}",
                    sums[name]
                );
            }
        }
    }
}
