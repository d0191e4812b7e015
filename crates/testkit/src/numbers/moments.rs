//! Adam's moments: averages whose step is far below half an ulp.

use super::{
    Measured, mean,
    rig::{Rig, fixed, plain},
};
use crate::CaseError;
use foxhunt_core::Bf16;
use foxhunt_device::Device;
use foxhunt_kernels::optim::Hyper;

/// Neither it nor its square is a value of BF16's that the average could sit on: its square is not.
pub(super) const G: f32 = 0.3;

pub(super) fn g() -> f64 {
    f64::from(Bf16::from_f32(G).to_f32())
}

pub(super) fn betas(beta1: f64, beta2: f64) -> Hyper {
    Hyper { beta1_q64: fixed(beta1, 64).max(1), beta2_q64: fixed(beta2, 64).max(1), ..plain(0.0) }
}

/// m of a constant gradient; to nearest 0.976 and 0.78.
pub(super) fn first(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let all = [0.9, 0.99];
    let rig = Rig::new(device, 1, &all.map(|b| betas(b, 0.0)))?;
    rig.set(rig.net.gradient, &[G; 2])?;
    rig.run(3000)?;
    let lanes = rig.lanes(rig.net.m)?;
    let of =
        |(b, m): (&f64, &Vec<f64>)| Measured::near(format!("m / g at beta1 {b}"), mean(m) / g(), 1.0, 0.002);
    Ok(all.iter().zip(&lanes).map(of).collect())
}

/// v of a constant gradient, from 0; to nearest 0.95, 0.78 and 0.27.
pub(super) fn second(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let all = [0.95, 0.99, 0.999];
    let rig = Rig::new(device, 1, &all.map(|b| betas(0.0, b)))?;
    rig.set(rig.net.gradient, &[G; 3])?;
    rig.run(20_000)?;
    let lanes = rig.lanes(rig.net.v)?;
    let of = |(b, v): (&f64, &Vec<f64>)| {
        Measured::near(format!("v / g^2 at beta2 {b}"), mean(v) / g().powi(2), 1.0, 0.01)
    };
    Ok(all.iter().zip(&lanes).map(of).collect())
}

/// v without a gradient; to nearest it stays.
pub(super) fn second_decays(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let rig = Rig::new(device, 4, &[betas(0.0, 0.999)])?;
    rig.set(rig.net.v, &[1.0])?;
    rig.run(2000)?;
    let lanes = &rig.lanes(rig.net.v)?[0];
    Ok(vec![Measured::near("v left after 2000 steps at beta2 0.999", mean(lanes), 0.1352, 0.0015)])
}

/// Betas that BF16 could not tell apart: both would be 1.
pub(super) fn betas_differ(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let all = [0.999, 0.9999];
    let rig = Rig::new(device, 4, &all.map(|b| betas(0.0, b)))?;
    rig.set(rig.net.gradient, &[G; 2])?;
    rig.run(100)?;
    let lanes = rig.lanes(rig.net.v)?;
    let of = |(b, v): (&f64, &Vec<f64>)| {
        let want = 1.0 - b.powi(100);
        Measured::near(
            format!("v / g^2 after 100 steps at beta2 {b}"),
            mean(v) / g().powi(2),
            want,
            0.02 * want,
        )
    };
    Ok(all.iter().zip(&lanes).map(of).collect())
}
