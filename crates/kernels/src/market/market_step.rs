//! Launchers of `market_step.cu`.

use super::types::{Account, Bar, FillRow, LedgerRow, MAX_FILLS, Rules};
use crate::{
    Element, KernelError, View, launch, tree,
    view::{Check, TEAM_ENVS},
};
use bytemuck::{Pod, Zeroable};
use foxhunt_core::DType;
use foxhunt_device::{Kernel, Launch, MemberPtr};

/// Bit of a cursor whose account was ruined or closed out.
pub const ENDED: u32 = 0x8000_0000;

/// A member's stretch of the bar table: the first decision is at the close of `begin`, the last mark at `end - 1`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Span {
    /// First row.
    pub begin: u32,
    /// Row after the last.
    pub end: u32,
}

/// Buffers of a backtest's step, for E accounts of each member.
#[derive(Debug)]
pub struct MarketStep<'a> {
    /// [`Account`] `[E, 1]`: read and overwritten.
    pub accounts: &'a View,
    /// U32 `[E, 1]`: row of the bar whose close is decided at; advanced.
    pub cursor: &'a View,
    /// [`Rules`] `[1, 1]`.
    pub rules: &'a View,
    /// [`Span`] `[1, 1]`.
    pub span: &'a View,
    /// [`Bar`] `[T, 1]`.
    pub bars: &'a View,
    /// U8 `[E, 3]`: exposure, order type, urgency.
    pub actions: &'a View,
    /// [`LedgerRow`] `[capacity, E]`: written at row (cursor - begin) mod capacity.
    pub rows: &'a View,
    /// [`FillRow`] `[capacity, E * 5]`: the legs of the same row.
    pub fills: &'a View,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct MarketStepArgs {
    buffers: [MemberPtr; 8],
    envs: u32,
    capacity: u32,
}

/// One decision of every account, with its ledger.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn market_step(dtype: DType, members: usize, x: &MarketStep<'_>) -> Result<Launch, KernelError> {
    step(&tree::MARKET_STEP, dtype, members, x)
}

/// Closes what every account holds at the close of its last row's bar, with fees, into that row.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn market_close(dtype: DType, members: usize, x: &MarketStep<'_>) -> Result<Launch, KernelError> {
    step(&tree::MARKET_CLOSE, dtype, members, x)
}

fn step(
    kernel: &'static Kernel,
    dtype: DType,
    members: usize,
    x: &MarketStep<'_>,
) -> Result<Launch, KernelError> {
    let check = Check::new(kernel.name, members);
    let (envs, capacity) = (x.accounts.rows, x.rows.rows);
    check.that(envs > 0 && capacity > 0, || "no account or no ledger row".into())?;
    check.view(x.accounts, Element::of::<Account>(), envs, 1)?;
    check.view(x.cursor, Element::U32, envs, 1)?;
    check.view(x.rules, Element::of::<Rules>(), 1, 1)?;
    check.view(x.span, Element::of::<Span>(), 1, 1)?;
    check.view(x.bars, Element::of::<Bar>(), x.bars.rows, 1)?;
    check.view(x.actions, Element::U8, envs, 3)?;
    check.view(x.rows, Element::of::<LedgerRow>(), capacity, envs)?;
    check.view(x.fills, Element::of::<FillRow>(), capacity, envs * MAX_FILLS)?;
    let all = [x.accounts, x.cursor, x.rules, x.span, x.bars, x.actions, x.rows, x.fills];
    for view in all {
        check.dense(view)?;
    }
    let written = [x.accounts, x.cursor, x.rows, x.fills];
    let arguments =
        MarketStepArgs { buffers: all.map(View::ptr), envs: envs as u32, capacity: capacity as u32 };
    let teams = envs.div_ceil(TEAM_ENVS);
    launch(kernel, dtype, (teams, members), &arguments, &all[..6], &written)
}
