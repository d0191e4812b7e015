//! Weights and targets as pairs: the high word to nearest, the low word stochastically. Steps that one word could take
//! only as noise arrive exactly, with a spread hundreds of times smaller.

use super::{
    Measured, deviation, differing,
    drift::{STEPS, moved, travelled},
    mean,
    rig::{PAIRED, Rig, fixed, plain},
};
use crate::CaseError;
use foxhunt_core::Bf16;
use foxhunt_device::Device;
use foxhunt_kernels::optim::{Hyper, OptimiserState};

/// Updates of one size. A low word to nearest gives 0.0010 in the fourth row and 0.0078 in the last, one word to
/// nearest 0.02 in the first and nothing in the others.
pub(super) fn constant_updates(device: &Device) -> Result<Vec<Measured>, CaseError> {
    // Start, update; distance, tolerance of the mean; the largest deviation over lanes. Distances are those of F32: at
    // 10 its ulp is 9.5e-7, and 3e-5 is 31 of them, not 31.5.
    let rows = [
        (0.1_f32, 3e-4, 0.3, 0.001, 0.004),
        (1.0, 3e-4, 0.3, 0.001, 0.004),
        (1.0, 3e-5, 0.03, 0.000_3, 0.001),
        (1.0, 3e-6, 0.003, 0.000_1, 0.000_3),
        (10.0, 3e-5, 0.0296, 0.000_5, 0.003),
    ];
    let rig = Rig::stored(device, PAIRED, 2, &rows.map(|r| plain(r.1)))?;
    let start = rows.map(|r| r.0);
    rig.set(rig.net.weight, &start)?;
    rig.set(rig.net.gradient, &[-1.0; 5])?;
    rig.run(STEPS)?;
    let mut out = Vec::new();
    for ((p, delta, want, tolerance, spread), lanes) in rows.into_iter().zip(travelled(&rig, &start)?) {
        let what = format!("pair, p = {p}, {STEPS} updates of {delta:e}");
        out.push(Measured::near(format!("{what}: mean"), mean(&lanes), want, tolerance));
        out.push(Measured::within(format!("{what}: deviation"), deviation(&lanes), 0.0, spread));
        out.push(Measured::within(format!("{what}: lanes moved"), moved(&lanes), 0.999, 1.0));
    }
    Ok(out)
}

/// The low word's random counter frozen: a pair begins with room in its low word, so that its first steps are exact,
/// and where they no longer are each lane takes the same turn for ever. Its deviation shows it.
pub(super) fn frozen_noise(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let mut deviations = Vec::new();
    for frozen in [false, true] {
        let rig = Rig::stored(device, PAIRED, 2, &[plain(3e-6)])?;
        rig.set(rig.net.weight, &[1.0])?;
        rig.set(rig.net.gradient, &[-1.0])?;
        for _ in 0..STEPS {
            if frozen {
                rig.set_counters(OptimiserState::default())?;
            }
            rig.run(1)?;
        }
        deviations.push(deviation(&travelled(&rig, &[1.0])?[0]));
    }
    let ratio = deviations[1] / deviations[0];
    Ok(vec![Measured::within("pair, frozen counter: deviation over that of one that runs", ratio, 4.0, 1e3)])
}

/// A thousand steps of Adam with a target, replayed and one by one without a graph.
pub(super) fn long_run(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let hyper = Hyper {
        beta1_q64: fixed(0.9, 64),
        beta2_q64: fixed(0.99, 64),
        tau_q32: fixed(0.005, 32) as u32,
        ..plain(3e-6)
    };
    let (rig, differing) = Rig::replayed_and_eager(device, PAIRED, hyper, STEPS)?;
    let lanes = &travelled(&rig, &[1.0])?[0];
    // A target lags by the step over tau: delta (1 - tau) / tau, once the start is forgotten.
    let t = &rig.lanes(rig.net.target)?[0];
    let lag: Vec<f64> = lanes.iter().zip(t).map(|(p, t)| 1.0 + p - t).collect();
    let want = 3e-6 * 0.995 / 0.005 * (1.0 - 0.995_f64.powi(STEPS as i32));
    Ok(vec![
        Measured::near("pair, 1000 steps of Adam: mean", mean(lanes), 0.003, 0.0001),
        Measured::near("pair, 1000 steps of Adam: lag of the target", mean(&lag), want, 0.03 * want),
        Measured::none("pair: elements that differ between 1000 replays and 1000 eager steps", differing),
    ])
}

/// 10,000 steps of decay at lr * decay = 3e-6. The tolerance is that of F32's own steps: below 1 a step is 50.3 ulp.
pub(super) fn weight_decay(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let hyper = [Hyper { decay_q32: fixed(0.01, 32) as u32, ..plain(3e-4) }];
    let rig = Rig::stored(device, PAIRED, 1, &hyper)?;
    rig.set(rig.net.weight, &[1.0])?;
    rig.run(10_000)?;
    let lanes = &rig.lanes(rig.net.weight)?[0];
    Ok(vec![
        Measured::near("pair: p after 10,000 decays by 3e-6", mean(lanes), 0.97045, 0.0003),
        Measured::within("pair: p after 10,000 decays, deviation", deviation(lanes), 0.0, 0.001),
    ])
}

/// A target that follows a weight that stands still, and one that is there already, low word and all.
pub(super) fn target(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let follow = Hyper { tau_q32: fixed(0.005, 32) as u32, ..plain(3e-4) };
    let rig = Rig::stored(device, PAIRED, 2, &[follow; 2])?;
    rig.set(rig.net.weight, &[1.1, 1.1])?;
    rig.set(rig.net.target, &[1.0, 1.1])?;
    let gap = |rig: &Rig| -> Result<Vec<f64>, CaseError> {
        let (p, t) = (rig.lanes(rig.net.weight)?, rig.lanes(rig.net.target)?);
        Ok(p[0].iter().zip(&t[0]).map(|(p, t)| (p - t) / (p - 1.0)).collect())
    };
    rig.run(200)?;
    let early = gap(&rig)?;
    let low = rig.net.low.map_or(rig.net.target, |low| low.target);
    let (p, t) = (rig.lanes(rig.net.weight)?, rig.lanes(rig.net.target)?);
    let held = rig.lanes(low)?[1].iter().filter(|low| **low != 0.0).count();
    let mut out = vec![
        Measured::near(
            "pair: share of the gap left after 200 steps",
            mean(&early),
            0.995_f64.powi(200),
            0.001,
        ),
        Measured::within("pair: deviation of that share", deviation(&early), 0.0, 0.005),
        Measured::none("pair: lanes that left a weight that they had reached", differing(&p[1], &t[1])),
        Measured::near("pair: lanes of those with a low word in use", held as f64, rig.lanes as f64, 0.0),
    ];
    rig.run(2000)?;
    out.push(Measured::near("pair: share of the gap left after 2200 steps", mean(&gap(&rig)?), 0.0, 0.000_3));
    Ok(out)
}

/// What the forward pass reads is the weight to nearest, whatever the noise: the low word is at most half an ulp.
pub(super) fn high_word(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let rig = Rig::stored(device, PAIRED, 2, &[plain(3e-6)])?;
    rig.set(rig.net.weight, &[1.0])?;
    rig.set(rig.net.gradient, &[-1.0])?;
    rig.run(STEPS)?;
    let high = rig.runtime.read(rig.net.weight)?;
    let value = rig.lanes(rig.net.weight)?;
    // Two may be the nearest: a low word may be rounded to half an ulp exactly.
    let off = |high: f32, x: f64| {
        let nearest = f64::from(Bf16::from_f32(x as f32).to_f32());
        (x - f64::from(high)).abs() > (x - nearest).abs()
    };
    let wrong = high.iter().zip(&value[0]).filter(|(high, x)| off(**high, **x)).count();
    Ok(vec![Measured::none("pair: high words that are not the nearest to their value", wrong)])
}
