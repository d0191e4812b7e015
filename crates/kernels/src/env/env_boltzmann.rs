//! Launcher of `env_boltzmann.cu`.

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

/// Buffers of Boltzmann acting.
#[derive(Debug)]
pub struct EnvBoltzmann<'a> {
    /// [`Env`] `[E, 1]`: its step is the clock.
    pub env: &'a View,
    /// [`EnvMember`] `[M, 1]`, of each market: the seed of the first, which is that of all, is the key.
    pub member: &'a View,
    /// [`Exploration`] `[1, 1]`: the temperature's schedule, above 0 throughout.
    pub temperature: &'a View,
    /// Real `[E, 15]`, the branches one after another.
    pub q: &'a View,
    /// U8 `[E, 3]`: overwritten.
    pub actions: &'a View,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct EnvBoltzmannArgs {
    env: MemberPtr,
    member: MemberPtr,
    temperature: MemberPtr,
    q: MemberPtr,
    actions: MemberPtr,
    envs: u32,
    q_ld: u32,
}

/// Draws each branch's action from the softmax of its values over the temperature.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_boltzmann(dtype: DType, members: usize, x: &EnvBoltzmann<'_>) -> Result<Launch, KernelError> {
    let check = Check::new("env_boltzmann", members);
    let envs = x.env.rows;
    check.that(envs > 0, || "no environment".into())?;
    check.view(x.env, Element::of::<Env>(), envs, 1)?;
    check.view(x.member, Element::of::<EnvMember>(), x.member.rows.max(1), 1)?;
    check.view(x.temperature, Element::of::<Exploration>(), 1, 1)?;
    check.view(x.q, Element::Real(dtype), envs, BRANCH_ACTIONS.iter().sum())?;
    check.view(x.actions, Element::U8, envs, BRANCH_ACTIONS.len())?;
    check.dense(x.env)?;
    check.dense(x.actions)?;
    let arguments = EnvBoltzmannArgs {
        env: x.env.ptr(),
        member: x.member.ptr(),
        temperature: x.temperature.ptr(),
        q: x.q.ptr(),
        actions: x.actions.ptr(),
        envs: envs as u32,
        q_ld: x.q.ld as u32,
    };
    let teams = envs.div_ceil(TEAM_ENVS);
    launch(
        &tree::ENV_BOLTZMANN,
        dtype,
        (teams, members),
        &arguments,
        &[x.env, x.member, x.temperature, x.q],
        &[x.actions],
    )
}
