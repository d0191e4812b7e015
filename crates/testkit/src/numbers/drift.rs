//! Small steps that go one way: what rounding to nearest loses whole.

use super::{
    Measured, deviation, differing, mean,
    rig::{PLAIN, Rig, fixed, plain},
};
use crate::CaseError;
use foxhunt_core::Bf16;
use foxhunt_device::Device;
use foxhunt_kernels::optim::{Hyper, OptimiserState};

pub(super) const STEPS: u32 = 1000;

pub(super) fn moved(lanes: &[f64]) -> f64 {
    lanes.iter().filter(|x| **x != 0.0).count() as f64 / lanes.len() as f64
}

/// How far the weights of each member went from `start`.
pub(super) fn travelled(rig: &Rig, start: &[f32]) -> Result<Vec<Vec<f64>>, CaseError> {
    let mut lanes = rig.lanes(rig.net.weight)?;
    for (lanes, start) in lanes.iter_mut().zip(start) {
        let (high, low) = Bf16::split(*start);
        let start = if rig.net.low.is_some() { Bf16::join(high, low) } else { high.to_f32() };
        lanes.iter_mut().for_each(|x| *x -= f64::from(start));
    }
    Ok(lanes)
}

/// A thousand updates of one size: rounding to nearest moves the first row by 0.02 and the others not at all.
pub(super) fn constant_updates(device: &Device) -> Result<Vec<Measured>, CaseError> {
    // Start, update; expected deviation over lanes; tolerance of the mean.
    let rows = [
        (0.1_f32, 3e-4, 0.018, 0.0015),
        (1.0, 3e-4, 0.048, 0.0038),
        (1.0, 3e-5, 0.0155, 0.0012),
        (1.0, 3e-6, 0.0049, 0.0004),
        (10.0, 3e-5, 0.0433, 0.0034),
    ];
    let rig = Rig::new(device, 2, &rows.map(|r| plain(r.1)))?;
    let start = rows.map(|r| r.0);
    rig.set(rig.net.weight, &start)?;
    rig.set(rig.net.gradient, &[-1.0; 5])?;
    rig.run(STEPS)?;
    let mut out = Vec::new();
    for ((p, delta, spread, tolerance), lanes) in rows.into_iter().zip(travelled(&rig, &start)?) {
        let what = format!("p = {p}, {STEPS} updates of {delta:e}");
        out.push(Measured::near(format!("{what}: mean"), mean(&lanes), f64::from(STEPS) * delta, tolerance));
        out.push(Measured::near(format!("{what}: deviation"), deviation(&lanes), spread, 0.13 * spread));
        if (p, delta) == (1.0, 3e-5) {
            out.push(Measured::within(format!("{what}: lanes moved"), moved(&lanes), 0.9, 1.0));
        }
    }
    Ok(out)
}

/// The experiment above sees a random counter that is frozen: each lane then goes all the way or nowhere. Its mean is
/// still right, so that a test of the mean alone would pass.
pub(super) fn frozen_noise(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let rig = Rig::new(device, 2, &[plain(3e-5)])?;
    rig.set(rig.net.weight, &[1.0])?;
    rig.set(rig.net.gradient, &[-1.0])?;
    for _ in 0..STEPS {
        rig.set_counters(OptimiserState::default())?;
        rig.run(1)?;
    }
    let lanes = &travelled(&rig, &[1.0])?[0];
    Ok(vec![
        Measured::within("frozen counter: lanes moved", moved(lanes), 0.0, 0.02),
        Measured::within("frozen counter: deviation", deviation(lanes), 0.1, 1.0),
    ])
}

/// A thousand steps with ordinary betas, twice: replayed, and one by one without a graph. 0.9^t sinks below 2^-64
/// after 404 of them, and the bias correction must not notice.
pub(super) fn long_run(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let hyper = Hyper {
        beta1_q64: fixed(0.9, 64),
        beta2_q64: fixed(0.99, 64),
        tau_q32: fixed(0.005, 32) as u32,
        ..plain(3e-5)
    };
    let (rig, differing) = Rig::replayed_and_eager(device, PLAIN, hyper, STEPS)?;
    let lanes = &travelled(&rig, &[1.0])?[0];
    Ok(vec![
        Measured::near("1000 steps of Adam: mean", mean(lanes), 0.03, 0.0012),
        Measured::within("1000 steps of Adam: lanes moved", moved(lanes), 0.9, 1.0),
        Measured::none("elements that differ between 1000 replays and 1000 eager steps", differing),
    ])
}

/// 10,000 steps of decay at lr * decay = 3e-6: rounding to nearest stays at 1.
pub(super) fn weight_decay(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let rig = Rig::new(device, 1, &[Hyper { decay_q32: fixed(0.01, 32) as u32, ..plain(3e-4) }])?;
    rig.set(rig.net.weight, &[1.0])?;
    rig.run(10_000)?;
    let lanes = &rig.lanes(rig.net.weight)?[0];
    Ok(vec![Measured::near("p after 10,000 decays by 3e-6", mean(lanes), 0.97045, 0.0015)])
}

/// A target that follows a weight that stands still, and one that is there already. Rounding to nearest closes none of
/// the gap.
pub(super) fn target(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let follow = Hyper { tau_q32: fixed(0.005, 32) as u32, ..plain(3e-4) };
    let rig = Rig::new(device, 2, &[follow; 2])?;
    rig.set(rig.net.weight, &[1.1, 1.1])?;
    rig.set(rig.net.target, &[1.0, 1.1])?;
    rig.run(200)?;
    let (p, t) = (rig.lanes(rig.net.weight)?, rig.lanes(rig.net.target)?);
    let gap: Vec<f64> = p[0].iter().zip(&t[0]).map(|(p, t)| (p - t) / (p - 1.0)).collect();
    Ok(vec![
        Measured::near(
            "target: share of the gap left after 200 steps",
            mean(&gap),
            0.995_f64.powi(200),
            0.011,
        ),
        Measured::none("target: lanes that left a weight that they had reached", differing(&p[1], &t[1])),
    ])
}
