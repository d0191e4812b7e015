//! Launchers of `env_act.cu`.

use super::types::{Env, EnvMember, Exploration};
use crate::{
    Element, KernelError, View, launch,
    market::BRANCH_ACTIONS,
    tree,
    view::{Check, TEAM_ENVS},
};
use bytemuck::{Pod, Zeroable};
use foxhunt_core::DType;
use foxhunt_device::{Kernel, Launch, MemberPtr};

/// Buffers of epsilon-greedy acting.
#[derive(Debug)]
pub struct EnvAct<'a> {
    /// [`Env`] `[E, 1]`: its step is the clock.
    pub env: &'a View,
    /// [`EnvMember`] `[M, 1]`, of each market: the seed of the first, which is that of all, is the key.
    pub member: &'a View,
    /// [`Exploration`] `[1, 1]`.
    pub exploration: &'a View,
    /// U8 `[E, 3]`: overwritten.
    pub actions: &'a View,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct EnvActArgs {
    env: MemberPtr,
    member: MemberPtr,
    exploration: MemberPtr,
    q: MemberPtr,
    greedy: MemberPtr,
    actions: MemberPtr,
    envs: u32,
    q_ld: u32,
}

/// Epsilon-greedy from values: `q` is real `[E, 15]`, the branches one after another; ties go to the lowest index.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_act_q(dtype: DType, members: usize, x: &EnvAct<'_>, q: &View) -> Result<Launch, KernelError> {
    let actions = BRANCH_ACTIONS.iter().sum();
    step(&tree::ENV_ACT_Q, dtype, members, x, q, Element::Real(dtype), actions)
}

/// Epsilon-greedy from greedy actions that a head has chosen: `greedy` is U8 `[E, 3]`.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_act_greedy(
    dtype: DType,
    members: usize,
    x: &EnvAct<'_>,
    greedy: &View,
) -> Result<Launch, KernelError> {
    step(&tree::ENV_ACT_GREEDY, dtype, members, x, greedy, Element::U8, BRANCH_ACTIONS.len())
}

fn step(
    kernel: &'static Kernel,
    dtype: DType,
    members: usize,
    x: &EnvAct<'_>,
    choice: &View,
    element: Element,
    cols: usize,
) -> Result<Launch, KernelError> {
    let check = Check::new(kernel.name, members);
    let envs = x.env.rows;
    check.that(envs > 0, || "no environment".into())?;
    check.view(x.env, Element::of::<Env>(), envs, 1)?;
    check.view(x.member, Element::of::<EnvMember>(), x.member.rows.max(1), 1)?;
    check.view(x.exploration, Element::of::<Exploration>(), 1, 1)?;
    check.view(choice, element, envs, cols)?;
    check.view(x.actions, Element::U8, envs, BRANCH_ACTIONS.len())?;
    check.dense(x.env)?;
    check.dense(x.actions)?;
    let reals = matches!(element, Element::Real(_));
    check.that(reals || choice.ld == cols, || format!("{} has padded rows", choice.name))?;
    let arguments = EnvActArgs {
        env: x.env.ptr(),
        member: x.member.ptr(),
        exploration: x.exploration.ptr(),
        q: choice.ptr(),
        greedy: choice.ptr(),
        actions: x.actions.ptr(),
        envs: envs as u32,
        q_ld: choice.ld as u32,
    };
    let teams = envs.div_ceil(TEAM_ENVS);
    launch(
        kernel,
        dtype,
        (teams, members),
        &arguments,
        &[x.env, x.member, x.exploration, choice],
        &[x.actions],
    )
}
