//! Roundings that share a step, a lane's neighbour, a member or a purpose share no noise.

use super::{
    Measured, mean,
    rig::{Rig, fixed, plain},
};
use crate::CaseError;
use foxhunt_core::Bf16;
use foxhunt_device::Device;
use foxhunt_kernels::optim::{Hyper, OptimiserState};

const STEPS: usize = 6;
const ROLES: [&str; 4] = ["p", "m", "v", "target"];

/// Which way each element was rounded, as 1 or 0, centred: `[step][role][member]`.
type Ways = Vec<Vec<Vec<Vec<f64>>>>;

/// Several steps from one state that puts every one of p, m, v and target between two values of BF16: p, m and v half
/// way, target a quarter.
fn ways(device: &Device) -> Result<Ways, CaseError> {
    let half = fixed(0.5, 64);
    let hyper = Hyper {
        beta1_q64: half,
        beta2_q64: half,
        tau_q32: fixed(0.5, 32) as u32,
        lr_q40: u32::MAX,
        ..plain(0.0)
    };
    let rig = Rig::new(device, 8, &[hyper; 2])?;
    let state = OptimiserState { step: 40, beta1_power: 1, beta2_power: 1, skipped: 0, ..Default::default() };
    rig.set_counters(state)?;
    let n = &rig.net;
    rig.set(n.gradient, &[1.007_812_5; 2])?;
    let mut all = Vec::new();
    for _ in 0..STEPS {
        for (t, x) in [(n.weight, 1.5), (n.m, 1.0), (n.v, 1.007_812_5), (n.target, 1.007_812_5)] {
            rig.set(t, &[x; 2])?;
        }
        rig.run(1)?;
        let mut roles = Vec::new();
        for t in [n.weight, n.m, n.v, n.target] {
            let mut members = rig.lanes(t)?;
            for lanes in &mut members {
                let low = lanes.iter().fold(f64::INFINITY, |a, b| a.min(*b));
                let high = f64::from(Bf16::from_bits(Bf16::from_f32(low as f32).to_bits() + 1).to_f32());
                if lanes.iter().any(|x| *x != low && *x != high) {
                    return Err(CaseError::Differs("a rounding left the two values around it".into()));
                }
                lanes.iter_mut().for_each(|x| *x = f64::from(*x == high));
                let middle = mean(lanes);
                lanes.iter_mut().for_each(|x| *x -= middle);
            }
            roles.push(members);
        }
        all.push(roles);
    }
    Ok(all)
}

/// Correlation of two streams, times the root of their length: about a standard normal where they are independent.
fn score(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).take(n).map(|(x, y)| x * y).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() * (n as f64).sqrt()
}

pub(super) fn independent(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let ways = ways(device)?;
    let worst = |what: &str, scores: Vec<f64>| {
        let value = scores.iter().fold(0.0_f64, |a, b| if b.is_nan() { f64::NAN } else { a.max(b.abs()) });
        Measured::within(
            format!("{what}: correlation in deviations, worst of {}", scores.len()),
            value,
            0.0,
            5.0,
        )
    };
    let (mut steps, mut neighbours, mut members, mut roles) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (s, now) in ways.iter().enumerate() {
        for r in 0..ROLES.len() {
            for member in 0..2 {
                let lanes = &now[r][member];
                neighbours.extend([1, 2, 8, 2048].map(|lag| score(lanes, &lanes[lag..])));
                steps.extend(ways.get(s + 1).map(|next| score(lanes, &next[r][member])));
                roles.extend((r + 1..ROLES.len()).map(|other| score(lanes, &now[other][member])));
            }
            members.push(score(&now[r][0], &now[r][1]));
        }
    }
    let agree = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).filter(|(a, b)| (**a > 0.0) == (**b > 0.0)).count() as f64 / a.len() as f64
    };
    Ok(vec![
        worst("neighbouring elements", neighbours),
        worst("consecutive steps", steps),
        worst("p, m, v and target", roles),
        worst("members", members),
        // A frozen counter: 1.
        Measured::near(
            "roundings of a half that agree with the step before",
            agree(&ways[0][0][0], &ways[1][0][0]),
            0.5,
            0.03,
        ),
    ])
}
