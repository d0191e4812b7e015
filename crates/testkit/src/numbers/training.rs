//! A small network that learns: after a thousand real steps hardly any weight that has a gradient stands where it
//! began, and the second moment is that of F64. With weights rounded to nearest a quarter of the first layer stands
//! still, and v with it.

use super::{
    Measured, mean,
    rig::{NEAREST, PAIRED, PLAIN, fixed, plain},
};
use crate::{CaseError, Random};
use foxhunt_core::{DType, Storage};
use foxhunt_device::Device;
use foxhunt_kernels::{
    loss::{HeadShape, Outcome},
    optim::Hyper,
};
use foxhunt_nn::{
    Net, Options, Plan, Runtime,
    net::{BranchingQ, BranchingQConfig},
    op::{ColumnReplay, HeadSamples, Optimise},
};
use std::collections::BTreeMap;

const ROWS: usize = 2048;
const INPUTS: usize = 32;
const STEPS: u32 = 1000;

const BETA2: f64 = 0.999;
const CLIP: f64 = 10.0;

/// At most this share of a parameter may stand still.
const STILL: f64 = 0.05;

/// The layer whose second moment is followed in F64, and how far apart they may be. bf16.md allows 5 %, within which
/// rounding to nearest would stay here: it is off by 3.2 %, and what is right by 1.0 %, the spread of its noise.
const LAYER: &str = "w_s2";
const TRACKS: f64 = 0.02;

pub(super) fn weights_move(device: &Device) -> Result<Vec<Measured>, CaseError> {
    Ok(still(device, PLAIN)?
        .into_iter()
        .map(|(what, share)| Measured::within(what, share, 0.0, STILL))
        .collect())
}

/// Pairs of which neither word moved are hardly any.
pub(super) fn pairs_move(device: &Device) -> Result<Vec<Measured>, CaseError> {
    Ok(still(device, PAIRED)?
        .into_iter()
        .map(|(what, share)| Measured::within(what, share, 0.0, STILL))
        .collect())
}

/// To nearest the experiment above sees what it is there for.
pub(super) fn nearest_stalls(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let shares = still(device, NEAREST)?;
    let most = shares.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    Ok(vec![Measured::within(
        "to nearest: largest share of a parameter left unchanged",
        most,
        2.0 * STILL,
        1.0,
    )])
}

/// sqrt(v) of the layer beside one that is kept in F64 from the same gradients.
pub(super) fn second_moment(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let off = shadow(device, PLAIN)?;
    Ok(vec![Measured::within(format!("sqrt(v) of {LAYER} against F64: mean difference"), off, 0.0, TRACKS)])
}

/// To nearest it loses sight of it: v stops where a step is below half an ulp, on the way up and on the way down.
pub(super) fn nearest_loses_the_moment(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let off = shadow(device, NEAREST)?;
    let what = format!("to nearest: sqrt(v) of {LAYER} against F64: mean difference");
    Ok(vec![Measured::within(what, off, 1.25 * TRACKS, 1.0)])
}

/// Mean of |sqrt(v) / sqrt(shadow) - 1| over the layer's elements that had a gradient, after all steps. The shadow takes
/// the gradients that the optimiser reads, clipped as it clips them.
fn shadow(device: &Device, storage: Storage) -> Result<f64, CaseError> {
    let (runtime, net) = network(device, storage)?;
    let Some(layer) = net.param(LAYER) else {
        return Err(CaseError::Differs(format!("no parameter {LAYER}")));
    };
    let elements: Vec<usize> = (0..layer.spec.parts.len())
        .flat_map(|part| layer.part_elements(part))
        .flat_map(|at| at..at + layer.spec.cols)
        .collect();
    let mut shadow = vec![0.0_f64; elements.len()];
    for _ in 0..STEPS {
        runtime.run("main", 1)?;
        device.synchronize()?;
        let gradient = runtime.read(net.gradient)?;
        let norm = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        let factor = (CLIP / norm).min(1.0);
        for (s, i) in shadow.iter_mut().zip(&elements) {
            *s = BETA2 * *s + (1.0 - BETA2) * (factor * f64::from(gradient[*i])).powi(2);
        }
    }
    let v = runtime.read(net.v)?;
    let off: Vec<f64> = shadow
        .iter()
        .zip(&elements)
        .filter(|(s, _)| **s > 0.0)
        .map(|(s, i)| ((f64::from(v[*i]) / s).sqrt() - 1.0).abs())
        .collect();
    // Elements without a gradient all along belong to units that never fire.
    if off.len() * 2 < shadow.len() {
        return Err(CaseError::Differs(format!("{} of {} elements had a gradient", off.len(), shadow.len())));
    }
    Ok(mean(&off))
}

/// The network before its first step: weights, data and hyperparameters are on the device.
fn network(device: &Device, storage: Storage) -> Result<(Runtime, Net), CaseError> {
    let mut plan = Plan::new(DType::Bf16, 1);
    plan.set_storage(storage);
    let state = Optimise::state(&mut plan, "q");
    let replay = ColumnReplay::push(&mut plan, (ROWS, INPUTS, 1), 64, state.1);
    let head = HeadShape { actions: vec![3], atoms: 21, v_min: -4.0, v_max: 4.0 };
    let config = BranchingQConfig {
        inputs: INPUTS,
        trunk: [64, 64],
        stream: 32,
        head,
        trunk_gradient_scale: 1.0,
        mixture: false,
    };
    let net = BranchingQ::new(&mut plan, config);
    let samples = HeadSamples { actions: replay.batch_actions, outcome: replay.batch_outcome };
    net.learn(&mut plan, replay.x, samples, state)?;
    let runtime = plan.compile(device, Options::default())?;

    let net = net.net;
    let mut random = Random::new(23);
    let x: Vec<f32> = (0..ROWS * INPUTS).map(|_| random.normal() as f32).collect();
    let actions: Vec<u8> = (0..ROWS).map(|_| random.below(3) as u8).collect();
    // The return of an action is its own input: something to learn.
    let outcomes: Vec<Outcome> = (0..ROWS)
        .map(|i| Outcome {
            return_q20: (x[i * INPUTS + usize::from(actions[i])] * 1_048_576.0) as i32,
            discount_q31: fixed(0.5, 31) as u32,
            index: i as u32,
            steps: 1,
        })
        .collect();
    runtime.write(replay.state, &x)?;
    runtime.write_raw(replay.actions, &actions)?;
    runtime.write_raw(replay.outcome, &outcomes)?;
    let hyper = Hyper {
        beta1_q64: fixed(0.9, 64),
        beta2_q64: fixed(BETA2, 64),
        tau_q32: fixed(0.005, 32) as u32,
        clip_q16: fixed(CLIP, 16) as u32,
        seed: 77,
        ..plain(3e-4)
    };
    runtime.write_raw(state.1, &[hyper])?;
    let image = net.initial_image(hyper.seed);
    runtime.write_pair(net.weight, net.low.map(|low| low.weight), &image)?;
    runtime.write_pair(net.target, net.low.map(|low| low.target), &image)?;
    Ok((runtime, net))
}

/// Share of each parameter's elements, of those with a gradient, that training left as they were.
fn still(device: &Device, storage: Storage) -> Result<Vec<(String, f64)>, CaseError> {
    let (runtime, net) = network(device, storage)?;
    let weights = || runtime.read_pair(net.weight, net.low.map(|low| low.weight));
    let before = weights()?;
    runtime.run("main", STEPS)?;
    device.synchronize()?;
    let (after, v) = (weights()?, runtime.read(net.v)?);

    // Biases together: of 60 numbers two may well end where they began.
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for p in &net.params {
        let (still, all) = groups.entry(if p.spec.decays { &p.spec.name } else { "biases" }).or_default();
        for at in (0..p.spec.parts.len()).flat_map(|part| p.part_elements(part)) {
            for i in (at..at + p.spec.cols).filter(|i| v[*i] > 0.0) {
                *still += usize::from(before[i] == after[i]);
                *all += 1;
            }
        }
    }
    let share = |(name, (still, all)): (&str, (usize, usize))| {
        (format!("share of {name} that {STEPS} steps left unchanged"), still as f64 / all as f64)
    };
    Ok(groups.into_iter().map(share).collect())
}
