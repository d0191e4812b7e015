//! What rounding to nearest loses. Ranges here are those of the wrong values: an experiment that a variant which is
//! known to fail passed would show nothing.

use super::{
    Measured,
    drift::{STEPS, moved, travelled},
    mean,
    moments::{G, betas, g},
    rig::{NEAREST, PAIRED_NEAREST, Rig, fixed, plain},
};
use crate::CaseError;
use foxhunt_device::Device;
use foxhunt_kernels::optim::Hyper;

/// A thousand updates below half an ulp: no weight moves, and of decay nothing remains.
pub(super) fn updates_vanish(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let rows = [(1.0_f32, 3e-4), (1.0, 3e-5), (1.0, 3e-6), (10.0, 3e-5), (0.1, 3e-4)];
    let mut hyper = rows.map(|r| plain(r.1)).to_vec();
    hyper.push(Hyper { decay_q32: fixed(0.01, 32) as u32, ..plain(3e-4) });
    let rig = Rig::stored(device, NEAREST, 1, &hyper)?;
    let mut start = rows.map(|r| r.0).to_vec();
    start.push(1.0);
    rig.set(rig.net.weight, &start)?;
    rig.set(rig.net.gradient, &[-1.0, -1.0, -1.0, -1.0, -1.0, 0.0])?;
    rig.run(STEPS)?;
    let lanes = travelled(&rig, &start)?;
    let mut out: Vec<Measured> = rows[..4]
        .iter()
        .zip(&lanes)
        .map(|((p, delta), lanes)| {
            let what = format!("to nearest, p = {p}, {STEPS} updates of {delta:e}: lanes moved");
            Measured::near(what, moved(lanes), 0.0, 0.0)
        })
        .collect();
    out.push(Measured::near(
        "to nearest, p = 0.1, 1000 updates of 3e-4: mean, of 0.3",
        mean(&lanes[4]),
        0.0249,
        0.002,
    ));
    out.push(Measured::near("to nearest, 1000 decays by 3e-6: lanes moved", moved(&lanes[5]), 0.0, 0.0));
    Ok(out)
}

/// The low word of a pair to nearest has a dead band of its own, 256 times narrower.
pub(super) fn low_word_stalls(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let rows = [(1.0_f32, 3e-6, 0.0010, "of 0.0030"), (10.0, 3e-5, 0.0078, "of 0.0296")];
    let rig = Rig::stored(device, PAIRED_NEAREST, 1, &rows.map(|r| plain(r.1)))?;
    let start = rows.map(|r| r.0);
    rig.set(rig.net.weight, &start)?;
    rig.set(rig.net.gradient, &[-1.0; 2])?;
    rig.run(STEPS)?;
    let mean = |((p, delta, want, of), lanes): ((f32, f64, f64, &str), Vec<f64>)| {
        let what = format!("low word to nearest, p = {p}, {STEPS} updates of {delta:e}: mean, {of}");
        Measured::near(what, mean(&lanes), want, 0.05 * want)
    };
    Ok(rows.into_iter().zip(travelled(&rig, &start)?).map(mean).collect())
}

/// Moments that stop short of a constant gradient, and one that never decays.
pub(super) fn moments(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let first = [(0.9, 0.962, 0.985), (0.99, 0.719, 0.839)];
    let second = [(0.95, 0.93, 0.97), (0.99, 0.72, 0.84), (0.999, 0.2, 0.34)];
    let hyper: Vec<Hyper> =
        first.iter().map(|f| betas(f.0, 0.0)).chain(second.iter().map(|s| betas(0.0, s.0))).collect();
    let rig = Rig::stored(device, NEAREST, 1, &hyper)?;
    rig.set(rig.net.gradient, &[G; 5])?;
    rig.run(20_000)?;
    let (m, v) = (rig.lanes(rig.net.m)?, rig.lanes(rig.net.v)?);
    let mut out = Vec::new();
    for ((beta, low, high), m) in first.into_iter().zip(&m) {
        out.push(Measured::within(format!("to nearest, m / g at beta1 {beta}"), mean(m) / g(), low, high));
    }
    for ((beta, low, high), v) in second.into_iter().zip(&v[2..]) {
        out.push(Measured::within(
            format!("to nearest, v / g^2 at beta2 {beta}"),
            mean(v) / g().powi(2),
            low,
            high,
        ));
    }
    let rig = Rig::stored(device, NEAREST, 1, &[betas(0.0, 0.999)])?;
    rig.set(rig.net.v, &[1.0])?;
    rig.run(2000)?;
    let left = mean(&rig.lanes(rig.net.v)?[0]);
    out.push(Measured::near("to nearest, v left after 2000 steps at beta2 0.999, of 0.1352", left, 1.0, 0.0));
    Ok(out)
}

/// A target that never follows: of a gap of 10 % all is left.
pub(super) fn target_freezes(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let rig = Rig::stored(device, NEAREST, 1, &[Hyper { tau_q32: fixed(0.005, 32) as u32, ..plain(3e-4) }])?;
    rig.set(rig.net.weight, &[1.1])?;
    rig.set(rig.net.target, &[1.0])?;
    rig.run(200)?;
    let (p, t) = (rig.lanes(rig.net.weight)?, rig.lanes(rig.net.target)?);
    let gap: Vec<f64> = p[0].iter().zip(&t[0]).map(|(p, t)| (p - t) / (p - 1.0)).collect();
    Ok(vec![Measured::near(
        "to nearest: share of the gap left after 200 steps, of 0.367",
        mean(&gap),
        1.0,
        0.0,
    )])
}
