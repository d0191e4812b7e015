//! Launchers of `env_backtest.cu`.

use super::types::{Context, Env, EnvMember};
use crate::{
    Element, KernelError, View, launch,
    market::{Bar, FillRow, LedgerRow, MAX_FILLS, Rules},
    tree,
    view::{Check, TEAM_ENVS},
};
use bytemuck::{Pod, Zeroable};
use foxhunt_core::DType;
use foxhunt_device::{Kernel, Launch, MemberPtr};

/// Buffers of a backtest of E environments of each member.
#[derive(Debug)]
pub struct EnvBacktest<'a> {
    /// [`Env`] `[E, 1]`: read and overwritten.
    pub env: &'a View,
    /// [`EnvMember`] `[1, 1]`: its window is what is traded.
    pub member: &'a View,
    /// [`Rules`] `[1, 1]`.
    pub rules: &'a View,
    /// [`Bar`] `[T, 1]`.
    pub bars: &'a View,
    /// [`Context`] `[T, 1]`.
    pub context: &'a View,
    /// U8 `[E, 3]`: exposure, order type, urgency.
    pub actions: &'a View,
    /// [`LedgerRow`] `[capacity, E]`: row k is decision k of the window.
    pub rows: &'a View,
    /// [`FillRow`] `[capacity, E * MAX_FILLS]`: the legs of the same row.
    pub fills: &'a View,
}

/// Buffers of recorded actions.
#[derive(Debug)]
pub struct EnvBacktestActions<'a> {
    /// [`Env`] `[E, 1]`: its bar says which row.
    pub env: &'a View,
    /// [`EnvMember`] `[1, 1]`.
    pub member: &'a View,
    /// U8 `[K, 3]`: row k is for decision k of the window.
    pub recorded: &'a View,
    /// U8 `[E, 3]`: overwritten; left as it is from decision K on.
    pub actions: &'a View,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct EnvBacktestArgs {
    buffers: [MemberPtr; 8],
    envs: u32,
    capacity: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct EnvBacktestActionsArgs {
    buffers: [MemberPtr; 4],
    envs: u32,
    rows: u32,
}

/// Sets every environment at its window's first decision with a fresh account.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_backtest_begin(dtype: DType, members: usize, x: &EnvBacktest<'_>) -> Result<Launch, KernelError> {
    step(&tree::ENV_BACKTEST_BEGIN, dtype, members, x)
}

/// One decision of every environment that has not stopped, with its ledger. An environment stops when it is ruined, at
/// its window's end, or when the ledger is full.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_backtest(dtype: DType, members: usize, x: &EnvBacktest<'_>) -> Result<Launch, KernelError> {
    step(&tree::ENV_BACKTEST, dtype, members, x)
}

/// Closes what every environment holds at the close where it stands, with half-spread, impact and fee, into that bar's
/// row. The environment stops there. Running it again changes nothing.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_backtest_close(dtype: DType, members: usize, x: &EnvBacktest<'_>) -> Result<Launch, KernelError> {
    step(&tree::ENV_BACKTEST_CLOSE, dtype, members, x)
}

/// Copies the recorded row of every environment's decision into its actions.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn env_backtest_actions(
    dtype: DType,
    members: usize,
    x: &EnvBacktestActions<'_>,
) -> Result<Launch, KernelError> {
    let kernel = &tree::ENV_BACKTEST_ACTIONS;
    let check = Check::new(kernel.name, members);
    let (envs, rows) = (x.env.rows, x.recorded.rows);
    check.that(envs > 0 && rows > 0, || "no environment or no recorded action".into())?;
    check.view(x.env, Element::of::<Env>(), envs, 1)?;
    check.view(x.member, Element::of::<EnvMember>(), 1, 1)?;
    check.view(x.recorded, Element::U8, rows, 3)?;
    check.view(x.actions, Element::U8, envs, 3)?;
    let all = [x.env, x.member, x.recorded, x.actions];
    for view in all {
        check.dense(view)?;
    }
    let arguments =
        EnvBacktestActionsArgs { buffers: all.map(View::ptr), envs: envs as u32, rows: rows as u32 };
    let teams = envs.div_ceil(TEAM_ENVS);
    launch(kernel, dtype, (teams, members), &arguments, &all[..3], &[x.actions])
}

fn step(
    kernel: &'static Kernel,
    dtype: DType,
    members: usize,
    x: &EnvBacktest<'_>,
) -> Result<Launch, KernelError> {
    let check = Check::new(kernel.name, members);
    let (envs, capacity) = (x.env.rows, x.rows.rows);
    check.that(envs > 0 && capacity > 0 && capacity <= u32::MAX as usize, || {
        format!("{envs} environments by {capacity} rows of ledger")
    })?;
    check.view(x.env, Element::of::<Env>(), envs, 1)?;
    check.view(x.member, Element::of::<EnvMember>(), 1, 1)?;
    check.view(x.rules, Element::of::<Rules>(), 1, 1)?;
    check.view(x.bars, Element::of::<Bar>(), x.bars.rows, 1)?;
    check.view(x.context, Element::of::<Context>(), x.bars.rows, 1)?;
    check.view(x.actions, Element::U8, envs, 3)?;
    check.view(x.rows, Element::of::<LedgerRow>(), capacity, envs)?;
    check.view(x.fills, Element::of::<FillRow>(), capacity, envs * MAX_FILLS)?;
    let all = [x.env, x.member, x.rules, x.bars, x.context, x.actions, x.rows, x.fills];
    for view in all {
        check.dense(view)?;
    }
    let written = [x.env, x.rows, x.fills];
    let arguments =
        EnvBacktestArgs { buffers: all.map(View::ptr), envs: envs as u32, capacity: capacity as u32 };
    let teams = envs.div_ceil(TEAM_ENVS);
    // The close reads the rows that it amends.
    launch(kernel, dtype, (teams, members), &arguments, &all, &written)
}
