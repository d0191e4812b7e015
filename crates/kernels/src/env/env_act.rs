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
use foxhunt_device::{Launch, MemberPtr};

/// Buffers of epsilon-greedy acting.
#[derive(Debug)]
pub struct EnvAct<'a> {
    /// [`Env`] `[E, 1]`: its step is the clock.
    pub env: &'a View,
    /// [`EnvMember`] `[1, 1]`: its seed is the key.
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
    greedy: MemberPtr,
    actions: MemberPtr,
    envs: u32,
    reserved: u32,
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
    let check = Check::new(tree::ENV_ACT_GREEDY.name, members);
    let envs = x.env.rows;
    check.that(envs > 0, || "no environment".into())?;
    check.view(x.env, Element::of::<Env>(), envs, 1)?;
    check.view(x.member, Element::of::<EnvMember>(), x.member.rows.max(1), 1)?;
    check.view(x.exploration, Element::of::<Exploration>(), 1, 1)?;
    check.view(greedy, Element::U8, envs, BRANCH_ACTIONS.len())?;
    check.view(x.actions, Element::U8, envs, BRANCH_ACTIONS.len())?;
    check.dense(x.env)?;
    check.dense(x.actions)?;
    check.owned(x.actions)?;
    check.dense(greedy)?;
    let arguments = EnvActArgs {
        env: x.env.ptr(),
        member: x.member.ptr(),
        exploration: x.exploration.ptr(),
        greedy: greedy.ptr(),
        actions: x.actions.ptr(),
        envs: envs as u32,
        reserved: 0,
    };
    let teams = envs.div_ceil(TEAM_ENVS);
    Ok(launch(
        &tree::ENV_ACT_GREEDY,
        dtype,
        (teams, members),
        &arguments,
        &[x.env, x.member, x.exploration, greedy],
        &[x.actions],
    ))
}
