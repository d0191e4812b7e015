//! Launcher of `dqn_collect.cu`.

use super::{
    ACTING_BLOCKS,
    dqn::{DqnNet, DqnShape, MapSlot, NetBiases, NetMaps, ROWS_PER_GROUP, check_mapped, map},
    mean_rows,
};
use crate::{
    Element, KernelError, View,
    env::{EnvStep, EnvStepGreedyArgs, ObservationShape, Tables},
    launch, tree,
    view::Check,
};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

const REAL: Element = Element::Real(DType::Bf16);
const NAME: &str = "dqn_collect";

/// Buffers of decisions in one launch, all in BF16 where real.
#[derive(Debug)]
pub struct DqnCollect<'a> {
    /// The online net.
    pub online: DqnNet<'a>,
    /// What [`super::dqn_mean`] made of it: `[mean_rows, H]`.
    pub mean: &'a View,
    /// The environments, `[E]`. Their `actions` are U8 `[E, 3]`, overwritten: what the last decision did.
    pub step: EnvStep<'a>,
    /// [`crate::env::Exploration`] `[1, 1]`.
    pub exploration: &'a View,
    /// Real `[rows, F]`: what observations are made from, beside the tables of the environments.
    pub features: &'a View,
    /// W: rows of the feature table in an observation, the members' `lookback`.
    pub lookback: usize,
    /// Decisions of every environment.
    pub decisions: usize,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct CollectArgs {
    online: NetMaps,
    mean: MapSlot,
    online_bias: NetBiases,
    env: EnvStepGreedyArgs,
    features: MemberPtr,
    shape: ObservationShape,
    decisions: i32,
    padding: [u32; 10],
}

/// Whether one launch of many decisions is faster than launches of their parts: where each tile has a multiprocessor. On an H200 at
/// 78217de 37.5 us a decision against 42.2 with 8,192 environments, 244.6 against 164.7 with 65,536, since few warps of a block step.
pub fn collects_fast(envs: usize, members: usize) -> bool {
    envs.div_ceil(ROWS_PER_GROUP) * members <= ACTING_BLOCKS
}

/// Observation, greedy action, exploration and step of every environment, `decisions` times: bit for bit what
/// [`crate::env::env_observe`], [`super::dqn_act()`] and [`crate::env::env_step_greedy`] do in turn.
///
/// # Errors
/// Buffers that don't fit, or a network that the kernel is not written for.
pub fn dqn_collect(members: usize, shape: &DqnShape, x: &DqnCollect<'_>) -> Result<Launch, KernelError> {
    let check = Check::new(NAME, members);
    shape.check(&check)?;
    x.online.check(&check, REAL, shape)?;
    check
        .that(shape.head.actions == [9, 3, 3], || format!("branches of {:?} actions", shape.head.actions))?;
    check.view(x.mean, REAL, mean_rows(&shape.head), shape.stream)?;
    let (env, [stepping, written]) = x.step.greedy_arguments(&check, x.exploration, x.step.actions)?;
    let tables = Tables {
        member: x.step.member,
        rules: x.step.rules,
        bars: x.step.bars,
        context: x.step.context,
        features: x.features,
        lookback: x.lookback,
    };
    let observation = tables.shape(&check, DType::Bf16, "an input", (shape.inputs, shape.inputs))?;
    let mapped: Vec<&View> = x.online.weights.into_iter().chain([x.mean]).collect();
    for v in &mapped {
        check_mapped(&check, members, v)?;
    }
    let envs = x.step.env.rows;
    let tiles = envs.div_ceil(ROWS_PER_GROUP);
    // The kernel counts rounds in 32 bits.
    check.that((1..=1 << 16).contains(&x.decisions) && tiles <= 1 << 12, || {
        format!("{} decisions of {envs} environments in one launch", x.decisions)
    })?;
    let args = CollectArgs {
        online: NetMaps::EMPTY,
        mean: MapSlot::EMPTY,
        online_bias: NetBiases::of(&x.online),
        env,
        features: x.features.ptr(),
        shape: observation,
        decisions: x.decisions as i32,
        padding: [0; 10],
    };
    let mut reads = x.online.views();
    reads.extend([x.mean, x.features]);
    reads.extend(stepping);
    let mut out = launch(&tree::DQN_COLLECT, DType::Bf16, (tiles, members), &args, &reads, &written)?;
    out.defines = shape.defines();
    out.defines.extend([("DQN_GROUPS", 1), ("DQN_ROLES", 1)]);
    out.maps = mapped.into_iter().enumerate().map(|(slot, v)| map(slot, v)).collect();
    Ok(out)
}
