//! Counters are integers: in BF16 one that is counted up stops at 256.

use super::Measured;
use crate::CaseError;
use foxhunt_core::DType;
use foxhunt_device::{Command, Device};
use foxhunt_kernels::{
    Element,
    env::replay_advance,
    optim::{Hyper, OptimiserState, adamw_advance},
};
use foxhunt_nn::{Options, Plan, op::Optimise};

const TIMES: u32 = 1_000_000;

/// A million steps of the optimiser's counter and a million draws of a replay's.
pub(super) fn increments(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let mut plan = Plan::new(DType::Bf16, 1);
    let (counters, hyper) = Optimise::state(&mut plan, "net");
    let norm = plan.buffer("norm", Element::U64, 1, 1);
    let draws = plan.buffer("draws", Element::U64, 1, 1);
    plan.run_foreign("advance", &[counters, hyper, norm, draws], &[counters, draws], move |cx| {
        let (dtype, members) = (cx.dtype(), cx.members());
        Ok(vec![
            Command::Launch(adamw_advance(dtype, members, cx.view(counters), cx.view(hyper), cx.view(norm))?),
            Command::Launch(replay_advance(dtype, members, cx.view(draws))?),
        ])
    });
    let runtime = plan.compile(device, Options { guard_bytes: 64 })?;
    runtime.write_raw(hyper, &[Hyper::default()])?;
    runtime.run("main", TIMES)?;
    device.synchronize()?;
    runtime.check_guards()?;
    let state = runtime.read_raw::<OptimiserState>(counters)?[0];
    let draws = runtime.read_raw::<u64>(draws)?[0];
    let exactly = |what: &str, got: u64| Measured::near(what, got as f64, f64::from(TIMES), 0.0);
    Ok(vec![
        exactly("optimiser steps counted, of 10^6", state.step),
        exactly("draws counted, of 10^6", draws),
        Measured::near("steps skipped", state.skipped as f64, 0.0, 0.0),
    ])
}
