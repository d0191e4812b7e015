//! Launcher of `dqn_act.cu`.

use super::{
    dqn::{DqnNet, DqnShape, MapSlot, NetBiases, NetMaps, ROWS_PER_GROUP, check_mapped, groups_of, map},
    mean_rows,
};
use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

/// About as many blocks as a large GPU has multiprocessors, each of which holds one.
pub const ACTING_BLOCKS: usize = 132;

const REAL: Element = Element::Real(DType::Bf16);

/// Buffers of fused greedy acting, all in BF16 where real.
#[derive(Debug)]
pub struct DqnAct<'a> {
    /// The online net.
    pub online: DqnNet<'a>,
    /// What [`super::dqn_mean`] made of it: `[mean_rows, H]`.
    pub mean: &'a View,
    /// States `[rows, S]`.
    pub x: &'a View,
    /// The greedy action of each branch, `[rows, D]` bytes: written.
    pub greedy: &'a View,
    /// Blocks of a member at most, which take its tiles in turn; see [`ACTING_BLOCKS`]. Changes no bit.
    pub most_blocks: usize,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct ActArgs {
    online: NetMaps,
    x: MapSlot,
    mean: MapSlot,
    online_bias: NetBiases,
    greedy: MemberPtr,
    rows: i32,
    ld_greedy: i32,
    blocks: i32,
    padding: [u32; 9],
}

/// The greedy action of every branch.
///
/// # Errors
/// Buffers that don't fit, or a network that the kernel is not written for.
pub fn dqn_act(members: usize, shape: &DqnShape, x: &DqnAct<'_>) -> Result<Launch, KernelError> {
    let check = Check::new("dqn_act", members);
    shape.check(&check)?;
    x.online.check(&check, REAL, shape)?;
    let rows = x.x.rows;
    check.view(x.x, REAL, rows, shape.inputs)?;
    check.view(x.mean, REAL, mean_rows(&shape.head), shape.stream)?;
    check.view(x.greedy, Element::U8, rows, shape.head.actions.len())?;
    let mapped: Vec<&View> = x.online.weights.into_iter().chain([x.x, x.mean]).collect();
    for v in &mapped {
        check_mapped(&check, members, v)?;
    }
    let tiles = rows.div_ceil(ROWS_PER_GROUP);
    let groups = groups_of(tiles, members);
    let blocks = tiles.div_ceil(groups).min(x.most_blocks.max(1));
    let args = ActArgs {
        online: NetMaps::EMPTY,
        x: MapSlot::EMPTY,
        mean: MapSlot::EMPTY,
        online_bias: NetBiases::of(&x.online),
        greedy: x.greedy.ptr(),
        rows: rows as i32,
        ld_greedy: x.greedy.ld as i32,
        blocks: blocks as i32,
        padding: [0; 9],
    };
    let mut reads = x.online.views();
    reads.extend([x.x, x.mean]);
    let mut out = launch(&tree::DQN_ACT, DType::Bf16, (blocks, members), &args, &reads, &[x.greedy])?;
    out.defines = shape.defines();
    out.defines.extend([("DQN_GROUPS", groups as u32), ("DQN_ROLES", 1)]);
    out.maps = mapped.into_iter().enumerate().map(|(slot, v)| map(slot, v)).collect();
    Ok(out)
}
