//! Launchers of `env_step.cu`.

use super::{
    observation::check_markets,
    types::{Context, Env, Exploration, Tally, Transition},
};
use crate::{
    Element, KernelError, View, launch,
    market::Bar,
    tree,
    view::{Check, TEAM_ENVS},
};
use bytemuck::{Pod, Zeroable};
use foxhunt_core::DType;
use foxhunt_device::{Kernel, Launch, MemberPtr};

/// Buffers of a reset or a step of E environments of each member.
#[derive(Debug)]
pub struct EnvStep<'a> {
    /// [`Env`] `[E, 1]`: read and overwritten.
    pub env: &'a View,
    /// [`EnvMember`] `[M, 1]`: one of each market; environment e trades e M / E.
    pub member: &'a View,
    /// [`Rules`] `[M, 1]`.
    pub rules: &'a View,
    /// [`Bar`] `[T, 1]`.
    pub bars: &'a View,
    /// [`Context`] `[T, 1]`.
    pub context: &'a View,
    /// U8 `[E, 3]`: exposure, order type, urgency.
    pub actions: &'a View,
    /// [`Transition`] `[R, E]`: the replay ring, one row a step.
    pub ring: &'a View,
    /// [`Tally`] `[1, 1]`: added to.
    pub tally: &'a View,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct EnvStepArgs {
    buffers: [MemberPtr; 8],
    envs: u32,
    rows: u32,
    markets: u32,
    reserved: u32,
}

/// Begins episode 0 of every environment and clears the tally.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_reset(dtype: DType, members: usize, x: &EnvStep<'_>) -> Result<Launch, KernelError> {
    step(&tree::ENV_RESET, dtype, members, x)
}

/// One decision of every environment: accounts, the replay row, and a new episode where one ended.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_step(dtype: DType, members: usize, x: &EnvStep<'_>) -> Result<Launch, KernelError> {
    step(&tree::ENV_STEP, dtype, members, x)
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct EnvStepGreedyArgs {
    step: EnvStepArgs,
    exploration: MemberPtr,
    chosen: MemberPtr,
}

/// [`super::env_act_greedy`] and [`env_step`] in one launch: `x.actions` are the greedy actions, `exploration` is
/// [`Exploration`] `[1, 1]`, and what is done goes to `chosen`, U8 `[E, 3]`, overwritten.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_step_greedy<'a>(
    dtype: DType,
    members: usize,
    x: &EnvStep<'a>,
    exploration: &'a View,
    chosen: &'a View,
) -> Result<Launch, KernelError> {
    let check = Check::new(tree::ENV_STEP_GREEDY.name, members);
    let (arguments, [reads, writes]) = x.greedy_arguments(&check, exploration, chosen)?;
    let teams = x.env.rows.div_ceil(TEAM_ENVS);
    launch(&tree::ENV_STEP_GREEDY, dtype, (teams, members), &arguments, &reads, &writes)
}

fn step(
    kernel: &'static Kernel,
    dtype: DType,
    members: usize,
    x: &EnvStep<'_>,
) -> Result<Launch, KernelError> {
    let (arguments, [reads, writes]) = x.arguments(&Check::new(kernel.name, members))?;
    let teams = x.env.rows.div_ceil(TEAM_ENVS);
    launch(kernel, dtype, (teams, members), &arguments, &reads, &writes)
}

impl<'a> EnvStep<'a> {
    /// As [`Self::arguments`], of a step with the choice of actions.
    pub(crate) fn greedy_arguments(
        &self,
        check: &Check,
        exploration: &'a View,
        chosen: &'a View,
    ) -> Result<(EnvStepGreedyArgs, [Vec<&'a View>; 2]), KernelError> {
        let (step, [reads, writes]) = self.arguments(check)?;
        check.view(exploration, Element::of::<Exploration>(), 1, 1)?;
        check.view(chosen, Element::U8, self.env.rows, 3)?;
        check.dense(chosen)?;
        let arguments = EnvStepGreedyArgs { step, exploration: exploration.ptr(), chosen: chosen.ptr() };
        Ok((arguments, [[&reads[..], &[exploration]].concat(), [&writes[..], &[chosen]].concat()]))
    }

    /// The checked arguments, and what is read and written.
    fn arguments(&self, check: &Check) -> Result<(EnvStepArgs, [Vec<&'a View>; 2]), KernelError> {
        let x = self;
        let (envs, rows) = (x.env.rows, x.ring.rows);
        check.that(envs > 0 && rows > 0 && envs * rows <= u32::MAX as usize, || {
            format!("{envs} environments by {rows} rows of replay")
        })?;
        check.view(x.env, Element::of::<Env>(), envs, 1)?;
        let markets = check_markets(check, x.member, x.rules, envs)?;
        check.view(x.bars, Element::of::<Bar>(), x.bars.rows, 1)?;
        check.view(x.context, Element::of::<Context>(), x.bars.rows, 1)?;
        check.view(x.actions, Element::U8, envs, 3)?;
        check.view(x.ring, Element::of::<Transition>(), rows, envs)?;
        check.view(x.tally, Element::of::<Tally>(), 1, 1)?;
        let all = [x.env, x.member, x.rules, x.bars, x.context, x.actions, x.ring, x.tally];
        for view in all {
            check.dense(view)?;
        }
        let written = [x.env, x.ring, x.tally];
        let arguments = EnvStepArgs {
            buffers: all.map(View::ptr),
            envs: envs as u32,
            rows: rows as u32,
            markets,
            reserved: 0,
        };
        let reads = [&all[..6], &[x.tally]].concat();
        Ok((arguments, [reads, written.to_vec()]))
    }
}
