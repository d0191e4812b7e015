//! Launchers of `replay.cu`.

use super::{
    observation::{ObservationShape, Tables, check_markets},
    types::{Env, EnvMember, Sample, Transition},
};
use crate::{
    Element, KernelError, View, launch,
    market::BRANCH_ACTIONS,
    tree,
    view::{Check, TEAM_ENVS},
};
use bytemuck::{Pod, Zeroable};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

/// Buffers of uniform sampling.
#[derive(Debug)]
pub struct ReplaySample<'a> {
    /// [`Env`] `[E, 1]`: its step is the write head.
    pub env: &'a View,
    /// [`EnvMember`] `[M, 1]`: the seed, which is the same in all, is the key.
    pub member: &'a View,
    /// U64 `[1, 1]`: batches drawn, the random counter; see [`replay_advance`].
    pub draws: &'a View,
    /// U32 `[B, 1]`: overwritten with row * E + environment.
    pub indices: &'a View,
    /// R: rows of the ring.
    pub ring_rows: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct ReplaySampleArgs {
    buffers: [MemberPtr; 4],
    envs: u32,
    rows: u32,
    batch: u32,
    reserved: u32,
}

/// Indices of a batch, uniform over what the ring holds. At least one step must have been made.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn replay_sample(dtype: DType, members: usize, x: &ReplaySample<'_>) -> Result<Launch, KernelError> {
    let check = Check::new("replay_sample", members);
    let (envs, batch) = (x.env.rows, x.indices.rows);
    check.that(envs > 0 && x.ring_rows > 0 && batch > 0, || "an empty ring or batch".into())?;
    check.view(x.env, Element::of::<Env>(), envs, 1)?;
    check.view(x.member, Element::of::<EnvMember>(), x.member.rows.max(1), 1)?;
    check.view(x.draws, Element::U64, 1, 1)?;
    check.view(x.indices, Element::U32, batch, 1)?;
    check.dense(x.env)?;
    check.dense(x.indices)?;
    check.owned(x.indices)?;
    let arguments = ReplaySampleArgs {
        buffers: [x.env, x.member, x.draws, x.indices].map(View::ptr),
        envs: envs as u32,
        rows: x.ring_rows as u32,
        batch: batch as u32,
        reserved: 0,
    };
    let teams = batch.div_ceil(TEAM_ENVS);
    Ok(launch(
        &tree::REPLAY_SAMPLE,
        dtype,
        (teams, members),
        &arguments,
        &[x.env, x.member, x.draws],
        &[x.indices],
    ))
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct ReplayAdvanceArgs {
    draws: MemberPtr,
}

/// Counts a batch as drawn. `draws` is U64 `[1, 1]` a member.
///
/// # Errors
/// Buffers that don't fit.
pub fn replay_advance(dtype: DType, members: usize, draws: &View) -> Result<Launch, KernelError> {
    let check = Check::new("replay_advance", members);
    check.view(draws, Element::U64, 1, 1)?;
    check.owned(draws)?;
    let arguments = ReplayAdvanceArgs { draws: draws.ptr() };
    Ok(launch(&tree::REPLAY_ADVANCE, dtype, (1, members), &arguments, &[draws], &[draws]))
}

/// Buffers of a gathered batch.
#[derive(Debug)]
pub struct ReplayGather<'a> {
    /// What observations are made from.
    pub tables: Tables<'a>,
    /// [`Env`] `[E, 1]`: its step is the write head.
    pub env: &'a View,
    /// [`Transition`] `[R, E]`.
    pub ring: &'a View,
    /// U32 `[B, 1]`: rows to gather, from any sampler.
    pub indices: &'a View,
    /// Real `[B, S]`: s, overwritten.
    pub s: &'a View,
    /// Real `[B, S]`: the true s' of the window's last step, overwritten.
    pub next: &'a View,
    /// U8 `[B, 3]`: overwritten.
    pub actions: &'a View,
    /// [`Sample`] `[B, 1]`: overwritten.
    pub samples: &'a View,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct ReplayGatherArgs {
    buffers: [MemberPtr; 12],
    shape: ObservationShape,
    envs: u32,
    rows: u32,
    batch: u32,
    markets: u32,
    reserved: u32,
}

/// s, a, n-step return, discount and s' of given rows.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn replay_gather(dtype: DType, members: usize, x: &ReplayGather<'_>) -> Result<Launch, KernelError> {
    let check = Check::new("replay_gather", members);
    let (envs, rows, batch) = (x.env.rows, x.ring.rows, x.indices.rows);
    check.that(envs > 0 && rows > 0 && batch > 0, || "an empty ring or batch".into())?;
    check.view(x.env, Element::of::<Env>(), envs, 1)?;
    check.view(x.ring, Element::of::<Transition>(), rows, envs)?;
    check.view(x.indices, Element::U32, batch, 1)?;
    check.view(x.actions, Element::U8, batch, BRANCH_ACTIONS.len())?;
    check.view(x.samples, Element::of::<Sample>(), batch, 1)?;
    let shape = x.tables.check(&check, dtype, x.s, batch)?;
    x.tables.check(&check, dtype, x.next, batch)?;
    check.that(x.next.cols == x.s.cols && x.next.ld == x.s.ld, || "s and s' have different rows".into())?;
    let [member, rules, bars, context, features] = x.tables.views();
    let all =
        [x.env, member, rules, bars, context, features, x.ring, x.indices, x.s, x.next, x.actions, x.samples];
    for view in [x.env, x.ring, x.indices, x.actions, x.samples] {
        check.dense(view)?;
    }
    let written = [x.s, x.next, x.actions, x.samples];
    for view in written {
        check.owned(view)?;
    }
    let markets = check_markets(&check, member, rules, envs)?;
    let arguments = ReplayGatherArgs {
        buffers: all.map(View::ptr),
        shape,
        envs: envs as u32,
        rows: rows as u32,
        batch: batch as u32,
        markets,
        reserved: 0,
    };
    let teams = batch.div_ceil(TEAM_ENVS);
    Ok(launch(&tree::REPLAY_GATHER, dtype, (teams, members), &arguments, &all[..8], &written))
}
