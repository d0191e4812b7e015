//! The host's generator and rounding, element by element, against those of the kernels.

use super::{
    Measured, differing,
    rig::{Rig, fixed, plain},
};
use crate::CaseError;
use foxhunt_core::{
    Bf16,
    rng::{Purpose, draw16},
};
use foxhunt_device::Device;

/// A million weights over 489 teams: three steps that the host takes too, in the same F32, and rounds by the same noise.
/// A frozen counter, or noise by thread or team instead of by element, would differ nearly everywhere.
pub(super) fn rounding(device: &Device) -> Result<Vec<Measured>, CaseError> {
    const DELTA: f64 = 1e-3;
    let rig = Rig::new(device, 489, &[plain(DELTA)])?;
    rig.set(rig.net.weight, &[1.0])?;
    rig.set(rig.net.gradient, &[-1.0])?;
    let step = (fixed(DELTA, 40) as f64 / 2_f64.powi(40)) as f32;
    let mut mirror = vec![Bf16::from_f32(1.0); rig.lanes];
    let (mut wrong, mut up) = (0, 0);
    for t in 1..=3 {
        rig.run(1)?;
        for (i, p) in mirror.iter_mut().enumerate() {
            let noise = draw16(rig.seed(0), t, 0, Purpose::RoundWeight, i as u64);
            *p = Bf16::from_f32_stochastic(p.to_f32() + step, noise);
        }
        let got = rig.runtime.read_raw::<u16>(rig.net.weight)?;
        let want: Vec<u16> = mirror.iter().map(|p| p.to_bits()).collect();
        wrong += differing(&got, &want);
        up = want.iter().filter(|bits| **bits != 0x3f80).count();
    }
    Ok(vec![
        Measured::none("weights of 1,001,472 that differ from the host's, of three steps", wrong),
        // Three times a chance of 0.128 each, so that a rounding that does nothing is seen.
        Measured::near("share of them that moved", up as f64 / rig.lanes as f64, 0.337, 0.003),
    ])
}
