//! What the fused kernels share: the network's sizes, its parameters, tensor maps.

use crate::{Element, KernelError, View, loss::HeadShape, view::Check};
use foxhunt_device::{MemberPtr, TENSOR_MAP_BYTES, TensorMap};

/// Rows of a computing warpgroup.
pub(super) const ROWS_PER_GROUP: usize = 64;
/// Tiles of 64 rows above which a block takes two: about as many as a large GPU has multiprocessors.
pub(super) const FEW_TILES: usize = 132;

/// Computing warpgroups of a block, each with a tile of its own.
pub(super) fn groups_of(tiles: usize, members: usize) -> usize {
    if tiles * members > FEW_TILES { 2 } else { 1 }
}

/// Columns that a stream has in the gradients of the head: a whole block, whatever the atoms are.
pub const GRADIENT_COLUMNS: usize = 64;

/// Columns of all logits at most: beside the largest of the other sizes the biases of as many leave `dqn_rows` its three
/// stages of weights.
const MOST_LOGITS: usize = 1856;

/// Sizes of a branching network.
#[derive(Clone, Debug, PartialEq)]
pub struct DqnShape {
    /// Inputs S.
    pub inputs: usize,
    /// Widths of the trunk, M1 and M2.
    pub trunk: [usize; 2],
    /// Width H of a stream.
    pub stream: usize,
    /// Branches, atoms, support.
    pub head: HeadShape,
}

impl DqnShape {
    /// Whether the fused kernels are written for these sizes: what doesn't fit in their shared memory is left to the plan's
    /// span.
    pub fn fits(&self) -> bool {
        let [m1, m2] = self.trunk;
        self.inputs.is_multiple_of(64)
            && (64..=256).contains(&self.inputs)
            && m1.is_multiple_of(64)
            && (64..=512).contains(&m1)
            && [128, 256].contains(&m2)
            && [64, 128].contains(&self.stream)
            && 2 * self.stream <= m2
            && (1..=3).contains(&self.head.actions.len())
            && self.head.actions.iter().all(|n| (1..=16).contains(n))
            && (2..=64).contains(&self.head.atoms)
            && self.head.logit_columns() <= MOST_LOGITS
    }

    /// Streams: V's and one per branch.
    pub fn streams(&self) -> usize {
        1 + self.head.actions.len()
    }

    /// Activations of each layer: of the trunk, and of all streams.
    pub fn layers(&self) -> [usize; 3] {
        let [m1, m2] = self.trunk;
        [m1, m2, self.streams() * self.stream]
    }

    pub(super) fn defines(&self) -> Vec<(&'static str, u32)> {
        let actions = |d: usize| self.head.actions.get(d).copied().unwrap_or(1) as u32;
        vec![
            ("DQN_INPUTS", self.inputs as u32),
            ("DQN_TRUNK1", self.trunk[0] as u32),
            ("DQN_TRUNK2", self.trunk[1] as u32),
            ("DQN_STREAM", self.stream as u32),
            ("DQN_BRANCHES", self.head.actions.len() as u32),
            ("DQN_ACTIONS0", actions(0)),
            ("DQN_ACTIONS1", actions(1)),
            ("DQN_ACTIONS2", actions(2)),
            ("DQN_ATOMS", self.head.atoms as u32),
        ]
    }

    pub(super) fn check(&self, check: &Check) -> Result<(), KernelError> {
        self.head.check(check)?;
        check.that(self.fits(), || format!("is not written for {self:?}"))
    }
}

/// The parameters of a net, or their gradients.
#[derive(Clone, Copy, Debug)]
pub struct DqnNet<'a> {
    /// `[M1, S]`, `[M2, M1]`, `[streams * H, M2]`, `[units * unit_ld, H]`.
    pub weights: [&'a View; 4],
    /// `[1, M1]`, `[1, M2]`, `[streams, H]`, `[units, atoms]` with rows `unit_ld` apart.
    pub biases: [&'a View; 4],
}

impl DqnNet<'_> {
    pub(super) fn check(&self, check: &Check, real: Element, shape: &DqnShape) -> Result<(), KernelError> {
        let ([m1, m2], streams, head) = (shape.trunk, shape.streams(), &shape.head);
        let sizes = [
            (m1, shape.inputs),
            (m2, m1),
            (streams * shape.stream, m2),
            (head.logit_columns(), shape.stream),
        ];
        for (w, (rows, cols)) in self.weights.into_iter().zip(sizes) {
            check.view(w, real, rows, cols)?;
        }
        let sizes = [(1, m1), (1, m2), (streams, shape.stream), (head.units(), head.atoms)];
        for (b, (rows, cols)) in self.biases.into_iter().zip(sizes) {
            check.view(b, real, rows, cols)?;
        }
        check.dense(self.biases[2])?;
        check
            .that(self.biases[3].ld == head.unit_ld(), || format!("{} is spread out", self.biases[3].name))?;
        check.dense(self.weights[3])
    }

    pub(super) fn views(&self) -> Vec<&View> {
        self.weights.into_iter().chain(self.biases).collect()
    }
}

/// Room for a tensor map, which the device fills: `TensorMap` in `hopper.cuh`.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct MapSlot {
    opaque: [u64; 16],
}

const _: () = assert!(size_of::<MapSlot>() == TENSOR_MAP_BYTES);

impl MapSlot {
    pub(super) const EMPTY: MapSlot = MapSlot { opaque: [0; 16] };
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct NetMaps {
    w1: MapSlot,
    w2: MapSlot,
    w3: MapSlot,
    head: MapSlot,
}

impl NetMaps {
    pub(super) const EMPTY: NetMaps =
        NetMaps { w1: MapSlot::EMPTY, w2: MapSlot::EMPTY, w3: MapSlot::EMPTY, head: MapSlot::EMPTY };
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct NetBiases {
    b1: MemberPtr,
    b2: MemberPtr,
    b3: MemberPtr,
    head: MemberPtr,
}

impl NetBiases {
    pub(super) fn of(net: &DqnNet<'_>) -> Self {
        let [b1, b2, b3, head] = net.biases.map(View::ptr);
        NetBiases { b1, b2, b3, head }
    }
}

/// A matrix that a map can describe: with a part for every member, since a member beyond the map reads zeros.
pub(super) fn check_mapped(check: &Check, members: usize, v: &View) -> Result<(), KernelError> {
    check.that(members == 1 || v.member_stride >= v.rows * v.ld, || {
        format!("{} is shared by {members} members, and each has its part in a tensor map", v.name)
    })
}

/// The map of a matrix, for slot `slot` of the argument struct's first maps.
pub(super) fn map(slot: usize, v: &View) -> TensorMap {
    let bytes = |elements: usize| (elements * v.element.bytes()) as u64;
    // The driver wants a stride even where nothing lies behind it.
    let stride = if v.member_stride > 0 { v.member_stride } else { v.rows * v.ld };
    TensorMap {
        at: slot * TENSOR_MAP_BYTES,
        addr: v.addr,
        sizes: [v.cols as u64, v.rows as u64, v.members as u64],
        strides: [bytes(v.ld), bytes(stride)],
    }
}
