//! Counters are integers: in BF16 one that is counted up stops at 256, in F32 at 2^24.

use super::{Measured, rig};
use crate::CaseError;
use foxhunt_core::DType;
use foxhunt_device::{Command, Device};
use foxhunt_kernels::{Element, env::replay_advance, optim::OptimiserState};
use foxhunt_nn::{Options, Plan};

const TIMES: u32 = 1_000_000;
/// Steps of the optimiser on either side of a number that a float would stop at.
const AROUND: u32 = 1000;

/// A million draws of a replay's counter, and the optimiser's past 2^24 and past 2^32.
pub(super) fn increments(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let mut plan = Plan::new(DType::Bf16, 1);
    let draws = plan.buffer("draws", Element::U64, 1, 1);
    plan.run_foreign("advance", &[draws], &[draws], move |cx| {
        Ok(vec![Command::Launch(replay_advance(cx.dtype(), cx.members(), cx.view(draws))?)])
    });
    let runtime = plan.compile(device, Options { guard_bytes: 64 })?;
    runtime.run("main", TIMES)?;
    device.synchronize()?;
    runtime.check_guards()?;
    let drawn = runtime.read_raw::<u64>(draws)?[0];
    let mut out = vec![Measured::near("draws counted, of 10^6", drawn as f64, f64::from(TIMES), 0.0)];
    let rig = rig::Rig::new(device, 8, &[rig::plain(0.0)])?;
    for (what, around) in
        [("optimiser steps, past 2^24", 1_u64 << 24), ("optimiser steps, past 2^32", 1 << 32)]
    {
        let start = around - u64::from(AROUND);
        rig.set_counters(OptimiserState {
            step: start,
            beta1_power: 1,
            beta2_power: 1,
            ..Default::default()
        })?;
        rig.run(2 * AROUND)?;
        let after = rig.counters()?;
        let counted = after.step - start;
        out.push(Measured::near(what, counted as f64, f64::from(2 * AROUND), 0.0));
        out.push(Measured::near("steps skipped", after.skipped as f64, 0.0, 0.0));
    }
    Ok(out)
}
