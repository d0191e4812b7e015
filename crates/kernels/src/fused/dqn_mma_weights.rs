//! Launcher of `dqn_mma_weights.cu`.

use super::{dqn::DqnShape, dqn_weights::DqnWeights};
use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

/// Rows and columns of a weight matrix that a block has.
const TILE: usize = 64;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct MmaWeightsArgs {
    x: MemberPtr,
    h1: MemberPtr,
    h2: MemberPtr,
    h3: MemberPtr,
    d1: MemberPtr,
    d2: MemberPtr,
    d3: MemberPtr,
    g: MemberPtr,
    actions: MemberPtr,
    w1: MemberPtr,
    w2: MemberPtr,
    w3: MemberPtr,
    head: MemberPtr,
    b1: MemberPtr,
    b2: MemberPtr,
    b3: MemberPtr,
    b_head: MemberPtr,
    norm: MemberPtr,
    rows: i32,
    ld_actions: i32,
    ld_x: i32,
    ld_h1: i32,
    ld_h2: i32,
    ld_h3: i32,
    ld_d1: i32,
    ld_d2: i32,
    ld_d3: i32,
    ld_g: i32,
    ld1: i32,
    ld2: i32,
    ld3: i32,
    ld_head: i32,
}

/// Partial squared norms that [`dqn_mma_weights`] leaves: one per tile of a weight matrix, whatever the batch is.
pub(super) fn mma_partials(shape: &DqnShape) -> usize {
    let tiles = |rows: usize, columns: usize| rows.div_ceil(TILE) * columns.div_ceil(TILE);
    let [m1, m2] = shape.trunk;
    let layers = tiles(m1, shape.inputs) + tiles(m2, m1) + tiles(shape.streams() * shape.stream, m2);
    layers + shape.head.units() * shape.stream.div_ceil(TILE)
}

/// As [`super::dqn_weights`], in products of warps: in either storage type, F32 as TF32.
///
/// # Errors
/// Buffers that don't fit, or a network that the kernel is not written for.
pub fn dqn_mma_weights(
    dtype: DType,
    members: usize,
    shape: &DqnShape,
    x: &DqnWeights<'_>,
) -> Result<Launch, KernelError> {
    let check = Check::new("dqn_mma_weights", members);
    shape.check(&check)?;
    let blocks = mma_partials(shape);
    x.check(&check, Element::Real(dtype), shape, blocks)?;
    let [h1, h2, h3] = x.activations;
    let [d1, d2, d3] = x.gradients;
    let [w1, w2, w3, head] = x.net.weights.map(View::ptr);
    let [b1, b2, b3, b_head] = x.net.biases.map(View::ptr);
    let [ld1, ld2, ld3, ld_head] = x.net.weights.map(|v| v.ld as i32);
    let args = MmaWeightsArgs {
        x: x.kept.x.ptr(),
        h1: h1.ptr(),
        h2: h2.ptr(),
        h3: h3.ptr(),
        d1: d1.ptr(),
        d2: d2.ptr(),
        d3: d3.ptr(),
        g: x.head_gradient.ptr(),
        actions: x.kept.actions.ptr(),
        w1,
        w2,
        w3,
        head,
        b1,
        b2,
        b3,
        b_head,
        norm: x.norm.ptr(),
        rows: x.head_gradient.rows as i32,
        ld_actions: x.kept.actions.ld as i32,
        ld_x: x.kept.x.ld as i32,
        ld_h1: h1.ld as i32,
        ld_h2: h2.ld as i32,
        ld_h3: h3.ld as i32,
        ld_d1: d1.ld as i32,
        ld_d2: d2.ld as i32,
        ld_d3: d3.ld as i32,
        ld_g: x.head_gradient.ld as i32,
        ld1,
        ld2,
        ld3,
        ld_head,
    };
    let (reads, writes) = x.touched();
    let mut out = launch(&tree::DQN_MMA_WEIGHTS, dtype, (blocks, members), &args, &reads, &writes)?;
    out.defines = shape.defines();
    Ok(out)
}
