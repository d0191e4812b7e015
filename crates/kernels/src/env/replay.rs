//! Launchers of `replay.cu`.

use super::{
    observation::{ObservationShape, Tables, check_markets},
    types::{Env, Sample, Transition},
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

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct ReplayAdvanceArgs {
    draws: MemberPtr,
}

/// Counts a uniform batch as drawn. `draws` is U64 `[1, 1]` a member.
///
/// # Errors
/// Buffers that don't fit.
pub fn replay_advance(dtype: DType, members: usize, draws: &View) -> Result<Launch, KernelError> {
    let check = Check::new("replay_advance", members);
    check.view(draws, Element::U64, 1, 1)?;
    let arguments = ReplayAdvanceArgs { draws: draws.ptr() };
    let advance = launch(&tree::REPLAY_ADVANCE, dtype, (1, members), &arguments, &[draws], &[draws])?;
    Ok(Launch { beside: true, ..advance })
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
    /// U32 `[B, 1]`: rows to gather, row * E + environment. From any sampler; overwritten where `draws` is there.
    pub indices: &'a View,
    /// U64 `[1, 1]`: batches drawn so far, the random counter of rows that are uniform over what the ring holds; see
    /// [`replay_advance`].
    pub draws: Option<&'a View>,
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
    buffers: [MemberPtr; 13],
    shape: ObservationShape,
    envs: u32,
    rows: u32,
    batch: u32,
    markets: u32,
    reserved: u32,
}

/// s, a, n-step return, discount and s' of given rows, or of rows that it draws: at least one step must have been made then.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn replay_gather(dtype: DType, members: usize, x: &ReplayGather<'_>) -> Result<Launch, KernelError> {
    let kernel = if x.draws.is_some() { &tree::REPLAY_GATHER_UNIFORM } else { &tree::REPLAY_GATHER };
    let check = Check::new(kernel.name, members);
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
    if let Some(draws) = x.draws {
        check.view(draws, Element::U64, 1, 1)?;
    }
    for view in [x.env, x.ring, x.indices, x.actions, x.samples] {
        check.dense(view)?;
    }
    let written = [x.s, x.next, x.actions, x.samples];
    let markets = check_markets(&check, member, rules, envs)?;
    // Never followed where indices are given.
    let draws = x.draws.map_or(MemberPtr { addr: 0, stride: 0 }, View::ptr);
    let mut buffers = [draws; 13];
    buffers.iter_mut().zip(all).for_each(|(to, view)| *to = view.ptr());
    let arguments = ReplayGatherArgs {
        buffers,
        shape,
        envs: envs as u32,
        rows: rows as u32,
        batch: batch as u32,
        markets,
        reserved: 0,
    };
    let teams = batch.div_ceil(TEAM_ENVS);
    let mut reads = all[..8].to_vec();
    let mut writes = written.to_vec();
    if let Some(draws) = x.draws {
        reads[7] = draws;
        writes.push(x.indices);
    }
    let gather = launch(kernel, dtype, (teams, members), &arguments, &reads, &writes)?;
    Ok(Launch { beside: true, ..gather })
}
