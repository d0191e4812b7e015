//! Launcher of `dqn_weights.cu`.

use super::{
    Kept,
    dqn::{DqnNet, DqnShape, GRADIENT_COLUMNS, MapSlot, check_mapped, map},
};
use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

const REAL: Element = Element::Real(DType::Bf16);

/// Buffers of a fused step's weight gradients, all of one storage type where real: BF16 for [`dqn_weights`].
#[derive(Debug)]
pub struct DqnWeights<'a> {
    /// What the rows' kernel kept of the batch.
    pub kept: Kept<'a>,
    /// As [`super::DqnRows::activations`].
    pub activations: [&'a View; 3],
    /// As [`super::DqnRows::gradients`].
    pub gradients: [&'a View; 3],
    /// As [`super::DqnRows::head_gradient`].
    pub head_gradient: &'a View,
    /// Gradients of the parameters: written.
    pub net: DqnNet<'a>,
    /// Partial squared norms `[1, weight_partials]`, 2^-32: written.
    pub norm: &'a View,
}

impl DqnWeights<'_> {
    /// `partials`: how many partial norms there are.
    pub(super) fn check(
        &self,
        check: &Check,
        real: Element,
        shape: &DqnShape,
        partials: usize,
    ) -> Result<(), KernelError> {
        self.net.check(check, real, shape)?;
        let (batch, streams) = (self.head_gradient.rows, shape.streams());
        self.kept.check(check, real, shape, batch)?;
        for of in [self.activations, self.gradients] {
            for (v, cols) in of.into_iter().zip(shape.layers()) {
                check.view(v, real, batch, cols)?;
            }
        }
        check.view(self.head_gradient, real, batch, streams * GRADIENT_COLUMNS)?;
        check.view(self.norm, Element::U64, 1, partials)
    }

    /// What the kernels read and what they write.
    pub(super) fn touched(&self) -> (Vec<&View>, Vec<&View>) {
        let mut reads = vec![self.kept.x, self.kept.actions];
        reads.extend(self.activations.into_iter().chain(self.gradients).chain([self.head_gradient]));
        let mut writes = self.net.views();
        writes.push(self.norm);
        (reads, writes)
    }
}

// The maps come first and in the order of `mapped` below.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct WeightsArgs {
    x: MapSlot,
    h1: MapSlot,
    h2: MapSlot,
    h3: MapSlot,
    d1: MapSlot,
    d2: MapSlot,
    d3: MapSlot,
    g: MapSlot,
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
    ld1: i32,
    ld2: i32,
    ld3: i32,
    ld_head: i32,
    padding: [u32; 2],
}

/// Blocks that share a batch: decides the order of addition, and so follows from the batch alone.
fn split_of(batch: usize) -> usize {
    match batch.div_ceil(64) {
        0..16 => 1,
        16..32 => 2,
        _ => 8,
    }
}

/// Blocks that run at a time, one on each multiprocessor, on the smallest GPU that there are products of warpgroups on.
const MULTIPROCESSORS: usize = 114;

/// Warpgroups of a block, each with 64 rows of a weight matrix or one unit of a stream. No bit depends on it.
fn parts_of(shape: &DqnShape, members: usize, split: usize) -> usize {
    match split {
        8 => 4,
        _ if members * split * tasks(shape, 1) <= MULTIPROCESSORS => 1,
        _ => 2,
    }
}

/// What the blocks of so many parts share the gradients out in.
fn tasks(shape: &DqnShape, parts: usize) -> usize {
    let tiles = |rows: usize, columns: usize| rows.div_ceil(64 * parts) * columns.div_ceil(128);
    let [m1, m2] = shape.trunk;
    let layers = tiles(m1, shape.inputs) + tiles(m2, m1) + tiles(shape.streams() * shape.stream, m2);
    let head: usize = (0..shape.streams()).map(|s| shape.head.stream_units(s).1.div_ceil(parts)).sum();
    layers + head
}

/// Partial squared norms that [`dqn_weights`] leaves for a batch of `batch`.
pub fn weight_partials(shape: &DqnShape, batch: usize) -> usize {
    tasks(shape, 1) * split_of(batch)
}

/// Gradients of all weights and biases, and their squared norm in parts.
///
/// # Errors
/// Buffers that don't fit, or a network that the kernel is not written for.
pub fn dqn_weights(members: usize, shape: &DqnShape, x: &DqnWeights<'_>) -> Result<Launch, KernelError> {
    let check = Check::new("dqn_weights", members);
    shape.check(&check)?;
    x.check(&check, REAL, shape, weight_partials(shape, x.head_gradient.rows))?;
    let batch = x.head_gradient.rows;
    let [w1, w2, w3, head] = x.net.weights.map(View::ptr);
    let [b1, b2, b3, b_head] = x.net.biases.map(View::ptr);
    let [ld1, ld2, ld3, ld_head] = x.net.weights.map(|v| v.ld as i32);
    let args = WeightsArgs {
        x: MapSlot::EMPTY,
        h1: MapSlot::EMPTY,
        h2: MapSlot::EMPTY,
        h3: MapSlot::EMPTY,
        d1: MapSlot::EMPTY,
        d2: MapSlot::EMPTY,
        d3: MapSlot::EMPTY,
        g: MapSlot::EMPTY,
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
        rows: batch as i32,
        ld_actions: x.kept.actions.ld as i32,
        ld1,
        ld2,
        ld3,
        ld_head,
        padding: [0; 2],
    };
    let mapped: Vec<&View> =
        [x.kept.x].into_iter().chain(x.activations).chain(x.gradients).chain([x.head_gradient]).collect();
    for v in &mapped {
        check_mapped(&check, members, v)?;
    }
    let (reads, writes) = x.touched();
    let split = split_of(batch);
    let parts = parts_of(shape, members, split);
    let blocks = tasks(shape, parts) * split;
    let mut out = launch(&tree::DQN_WEIGHTS, DType::Bf16, (blocks, members), &args, &reads, &writes)?;
    out.defines = shape.defines();
    out.defines.extend([("DQN_PARTS", parts as u32), ("DQN_SPLIT", split as u32)]);
    out.maps = mapped.into_iter().enumerate().map(|(slot, v)| map(slot, v)).collect();
    Ok(out)
}
