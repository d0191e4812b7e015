//! Launchers of `column.cu`.

use crate::{Element, KernelError, View, launch, loss::Outcome, optim::Hyper, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

const OUTCOME: Element = Element::Struct(size_of::<Outcome>() as u32);

/// Buffers of a gather.
#[derive(Debug)]
pub struct ColumnGather<'a> {
    /// `[rows, S]`.
    pub state: &'a View,
    /// `[rows, D]` bytes.
    pub actions: &'a View,
    /// `[rows, 1]` of [`Outcome`].
    pub outcome: &'a View,
    /// U64 `[1, 1]`: batches drawn so far, the random counter of the rows; see [`replay_advance`](crate::env::replay_advance).
    pub draws: &'a View,
    /// Whose seed: one [`Hyper`] per member.
    pub hyper: &'a View,
    /// Rows that were drawn, `[1, B]`: written.
    pub index: &'a View,
    /// `[2B, S]`: s, then s'.
    pub x: &'a View,
    /// `[B, D]` bytes.
    pub batch_actions: &'a View,
    /// `[B, 1]`.
    pub batch_outcome: &'a View,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct GatherArgs {
    state: MemberPtr,
    actions: MemberPtr,
    outcome: MemberPtr,
    draws: MemberPtr,
    hyper: MemberPtr,
    index: MemberPtr,
    x: MemberPtr,
    actions_out: MemberPtr,
    outcome_out: MemberPtr,
    batch: i32,
    rows: i32,
    ld: i32,
    branches: i32,
}

/// Draws uniform rows, each with a successor, and gathers both.
///
/// # Errors
/// Buffers that don't fit.
pub fn column_gather(dtype: DType, members: usize, x: &ColumnGather<'_>) -> Result<Launch, KernelError> {
    let check = Check::new("column_gather", members);
    let (rows, batch, branches) = (x.state.rows, x.index.cols, x.actions.cols);
    let real = Element::Real(dtype);
    check.view(x.state, real, rows, x.state.cols)?;
    check.view(x.actions, Element::U8, rows, branches)?;
    check.view(x.outcome, OUTCOME, rows, 1)?;
    check.view(x.index, Element::U32, 1, batch)?;
    check.view(x.draws, Element::U64, 1, 1)?;
    check.view(x.hyper, Element::of::<Hyper>(), 1, 1)?;
    check.that(branches < 32, || format!("{branches} branches, more than 31"))?;
    check.that(rows >= 2, || format!("a replay of {rows} rows has no successor"))?;
    check.view(x.x, real, 2 * batch, x.state.cols)?;
    check.view(x.batch_actions, Element::U8, batch, branches)?;
    check.view(x.batch_outcome, OUTCOME, batch, 1)?;
    check.that(x.x.ld == x.state.ld, || format!("{} and {} differ in ld", x.x.name, x.state.name))?;
    for v in [x.actions, x.batch_actions] {
        check.that(v.ld == branches, || format!("{} is not contiguous", v.name))?;
    }
    let args = GatherArgs {
        state: x.state.ptr(),
        actions: x.actions.ptr(),
        outcome: x.outcome.ptr(),
        draws: x.draws.ptr(),
        hyper: x.hyper.ptr(),
        index: x.index.ptr(),
        x: x.x.ptr(),
        actions_out: x.batch_actions.ptr(),
        outcome_out: x.batch_outcome.ptr(),
        batch: batch as i32,
        rows: rows as i32,
        ld: x.state.ld as i32,
        branches: branches as i32,
    };
    let gather = launch(
        &tree::COLUMN_GATHER,
        dtype,
        (batch, members),
        &args,
        &[x.state, x.actions, x.outcome, x.draws, x.hyper],
        &[x.index, x.x, x.batch_actions, x.batch_outcome],
    )?;
    Ok(Launch { beside: true, ..gather })
}
