//! Launcher of `dqn_mma_rows.cu`.

use super::{
    dqn::{DqnNet, DqnShape, NetBiases},
    dqn_rows::DqnRows,
};
use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

/// Tiles that fill a large GPU well enough: below, a block has fewer rows.
const ENOUGH_TILES: usize = 96;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct NetViews {
    w1: MemberPtr,
    w2: MemberPtr,
    w3: MemberPtr,
    head: MemberPtr,
    bias: NetBiases,
}

impl NetViews {
    fn of(net: &DqnNet<'_>) -> Self {
        let [w1, w2, w3, head] = net.weights.map(View::ptr);
        NetViews { w1, w2, w3, head, bias: NetBiases::of(net) }
    }
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct MmaRowsArgs {
    online: NetViews,
    target: NetViews,
    x: MemberPtr,
    mean: MemberPtr,
    kept_x: MemberPtr,
    h1: MemberPtr,
    h2: MemberPtr,
    h3: MemberPtr,
    d1: MemberPtr,
    d2: MemberPtr,
    d3: MemberPtr,
    g: MemberPtr,
    row_loss: MemberPtr,
    actions: MemberPtr,
    kept_actions: MemberPtr,
    outcome: MemberPtr,
    total: MemberPtr,
    rows: i32,
    ld_x: i32,
    ld_kept: i32,
    ld_w1: i32,
    ld_w2: i32,
    ld_w3: i32,
    ld_h1: i32,
    ld_h2: i32,
    ld_h3: i32,
    ld_d1: i32,
    ld_d2: i32,
    ld_d3: i32,
    ld_g: i32,
    ld_actions: i32,
    mixture: i32,
    scale: f32,
    trunk_scale: f32,
    v_min: f32,
    inv_dz: f32,
    padding: u32,
}

/// Rows of a block: as many as its memory holds where that leaves blocks enough, fewer for small batches. No bit depends on it.
pub(super) fn block_rows(dtype: DType, batch: usize, members: usize) -> usize {
    let sizes: &[usize] = match dtype {
        DType::Bf16 => &[64, 32],
        DType::F32 => &[32],
    };
    sizes.iter().copied().find(|rows| batch.div_ceil(*rows) * members >= ENOUGH_TILES).unwrap_or(16)
}

/// As [`super::dqn_rows`], in products of warps: in either storage type, F32 as TF32.
///
/// # Errors
/// Buffers that don't fit, or a network that the kernel is not written for.
pub fn dqn_mma_rows(
    dtype: DType,
    members: usize,
    shape: &DqnShape,
    x: &DqnRows<'_>,
) -> Result<Launch, KernelError> {
    let check = Check::new("dqn_mma_rows", members);
    shape.check(&check)?;
    x.check(&check, Element::Real(dtype), shape)?;
    check.dense(x.mean)?;
    for (w, target) in x.online.weights.into_iter().zip(x.target.weights) {
        check.that(w.ld == target.ld, || format!("{} and {} have other rows", w.name, target.name))?;
    }
    let (batch, branches) = (x.outcome.rows, shape.head.actions.len());
    let head = &shape.head;
    let dz = (head.v_max - head.v_min) / (head.atoms - 1) as f32;
    let [h1, h2, h3] = x.activations;
    let [d1, d2, d3] = x.gradients;
    let [ld_w1, ld_w2, ld_w3, _] = x.online.weights.map(|w| w.ld as i32);
    let args = MmaRowsArgs {
        online: NetViews::of(&x.online),
        target: NetViews::of(&x.target),
        x: x.x.ptr(),
        mean: x.mean.ptr(),
        kept_x: x.kept.x.ptr(),
        h1: h1.ptr(),
        h2: h2.ptr(),
        h3: h3.ptr(),
        d1: d1.ptr(),
        d2: d2.ptr(),
        d3: d3.ptr(),
        g: x.head_gradient.ptr(),
        row_loss: x.row_loss.ptr(),
        actions: x.actions.ptr(),
        kept_actions: x.kept.actions.ptr(),
        outcome: x.outcome.ptr(),
        total: x.total.ptr(),
        rows: batch as i32,
        ld_x: x.x.ld as i32,
        ld_kept: x.kept.x.ld as i32,
        ld_w1,
        ld_w2,
        ld_w3,
        ld_h1: h1.ld as i32,
        ld_h2: h2.ld as i32,
        ld_h3: h3.ld as i32,
        ld_d1: d1.ld as i32,
        ld_d2: d2.ld as i32,
        ld_d3: d3.ld as i32,
        ld_g: x.head_gradient.ld as i32,
        ld_actions: x.actions.ld as i32,
        mixture: x.mixture.into(),
        scale: 1.0 / (batch * branches) as f32,
        trunk_scale: x.trunk_scale,
        v_min: head.v_min,
        inv_dz: 1.0 / dz,
        padding: 0,
    };
    let (reads, writes) = x.touched();
    let rows = block_rows(dtype, batch, members);
    let mut out =
        launch(&tree::DQN_MMA_ROWS, dtype, (batch.div_ceil(rows), members), &args, &reads, &writes)?;
    out.defines = shape.defines();
    out.defines.push(("DQN_ROWS", rows as u32));
    Ok(out)
}
