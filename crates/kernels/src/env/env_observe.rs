//! Launcher of `env_observe.cu`.

use super::{
    observation::{ObservationShape, Tables, check_markets},
    types::Env,
};
use crate::{
    Element, KernelError, View, launch, tree,
    view::{Check, TEAM_ENVS},
};
use bytemuck::{Pod, Zeroable};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct EnvObserveArgs {
    buffers: [MemberPtr; 7],
    shape: ObservationShape,
    envs: u32,
    markets: u32,
    reserved: u32,
}

/// What every environment's network sees: `env` is [`Env`] `[E, 1]`, `out` real `[E, S]`, overwritten whole.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_observe(
    dtype: DType,
    members: usize,
    tables: &Tables<'_>,
    env: &View,
    out: &View,
) -> Result<Launch, KernelError> {
    let check = Check::new("env_observe", members);
    let envs = env.rows;
    check.that(envs > 0, || "no environment".into())?;
    check.view(env, Element::of::<Env>(), envs, 1)?;
    check.dense(env)?;
    let shape = tables.check(&check, dtype, out, envs)?;
    let [member, rules, bars, context, features] = tables.views();
    let all = [env, member, rules, bars, context, features, out];
    let markets = check_markets(&check, member, rules, envs)?;
    let arguments =
        EnvObserveArgs { buffers: all.map(View::ptr), shape, envs: envs as u32, markets, reserved: 0 };
    let teams = envs.div_ceil(TEAM_ENVS);
    launch(&tree::ENV_OBSERVE, dtype, (teams, members), &arguments, &all[..6], &[out])
}
