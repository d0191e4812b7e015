//! What is not finite: a gradient that is not changes nothing, a value that is not never becomes a number.

use super::{
    Measured, differing,
    rig::{PAIRED, PLAIN, Rig, fixed, plain},
};
use crate::CaseError;
use foxhunt_core::Storage;
use foxhunt_device::Device;
use foxhunt_kernels::optim::{Hyper, OptimiserState};

const MOST: f32 = f32::from_bits(0x7f7f_0000);

pub(super) fn not_finite(device: &Device) -> Result<Vec<Measured>, CaseError> {
    stored(device, PLAIN)
}

/// The same of pairs, whose low word is 0 where the high word is not finite: Inf - Inf would be NaN.
pub(super) fn pairs(device: &Device) -> Result<Vec<Measured>, CaseError> {
    stored(device, PAIRED)
}

fn stored(device: &Device, storage: Storage) -> Result<Vec<Measured>, CaseError> {
    let mut out = Vec::new();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let rig = Rig::stored(device, storage, 2, &[plain(3e-4)])?;
        rig.set(rig.net.weight, &[1.0])?;
        let mut gradient = vec![-1.0; rig.lanes];
        gradient[rig.lanes - 3] = bad;
        rig.runtime.write(rig.net.gradient, &gradient)?;
        let before = rig.bits()?;
        rig.run(3)?;
        let changed = differing(&before, &rig.bits()?);
        out.push(Measured::none(format!("elements changed by a gradient with one {bad}"), changed));
        let counters = rig.runtime.read_raw::<OptimiserState>(rig.counters)?;
        out.push(Measured::near(format!("steps skipped for {bad}"), counters[0].skipped as f64, 3.0, 0.0));
        rig.set(rig.net.gradient, &[-1.0])?;
        rig.run(1)?;
        let moved = rig.lanes(rig.net.m)?[0].iter().filter(|m| **m == -1.0).count();
        out.push(Measured::near(
            format!("lanes that go on after {bad}"),
            moved as f64,
            rig.lanes as f64,
            0.0,
        ));
    }

    // The largest finite BF16 and a step of 0.4 ulp upwards: rounded up it would be infinite.
    let half = fixed(0.5, 64);
    let hyper = Hyper { beta1_q64: half, beta2_q64: half, ..plain(2_f64.powi(-9)) };
    let rig = Rig::stored(device, storage, 2, &[hyper])?;
    // Beta's powers as after many steps, so that m and v go into the update as they are.
    rig.set_counters(OptimiserState {
        step: 9,
        beta1_power: 1,
        beta2_power: 1,
        skipped: 0,
        ..Default::default()
    })?;
    rig.set(rig.net.weight, &[MOST])?;
    rig.set(rig.net.m, &[-MOST])?;
    rig.set(rig.net.v, &[1.0])?;
    rig.run(1)?;
    let p = rig.runtime.read_raw::<u16>(rig.net.weight)?;
    out.push(Measured::none(
        "weights that left the largest finite value",
        p.iter().filter(|b| **b != 0x7f7f).count(),
    ));

    let rig = Rig::stored(device, storage, 1, &[plain(3e-4)])?;
    let mut values = vec![1.0; rig.lanes];
    values[..3].copy_from_slice(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
    rig.runtime.write(rig.net.weight, &values)?;
    rig.set(rig.net.gradient, &[-1.0])?;
    rig.run(5)?;
    // An infinity may become NaN, since no decay of it is 0 times it; neither becomes a number.
    let p = rig.runtime.read_raw::<u16>(rig.net.weight)?;
    let finite = p[..3].iter().filter(|b| *b & 0x7f80 != 0x7f80).count();
    out.push(Measured::none("NaN and infinities that became finite", finite));
    out.push(Measured::none("NaN of another kind than the one that is stored", usize::from(p[0] != 0x7fff)));
    Ok(out)
}
