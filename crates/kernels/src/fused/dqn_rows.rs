//! Launcher of `dqn_rows.cu`.

use super::{
    dqn::{
        DqnNet, DqnShape, FEW_TILES, GRADIENT_COLUMNS, MapSlot, NetBiases, NetMaps, ROWS_PER_GROUP,
        check_mapped, groups_of, map,
    },
    mean_rows,
};
use crate::{
    Element, KernelError, View, launch,
    loss::{LossTotal, Outcome},
    tree,
    view::Check,
};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

const REAL: Element = Element::Real(DType::Bf16);

/// Buffers of a fused step's row-local part, all of one storage type where real: BF16 for [`dqn_rows`].
#[derive(Debug)]
pub struct DqnRows<'a> {
    /// The online net.
    pub online: DqnNet<'a>,
    /// The target net.
    pub target: DqnNet<'a>,
    /// What [`super::dqn_mean`] made of both: `[mean_rows, H]`.
    pub mean: &'a View,
    /// States `[2B, S]`: s, then s'.
    pub x: &'a View,
    /// Actions taken, `[B, D]` bytes.
    pub actions: &'a View,
    /// [`Outcome`] of each row, `[B, 1]`.
    pub outcome: &'a View,
    /// s and the actions again, `[B, S]` and `[B, D]` bytes without gaps: written. The weights' gradients are made from these,
    /// while the next batch is gathered.
    pub kept: Kept<'a>,
    /// Activations of s, `[B, M1]`, `[B, M2]`, `[B, streams * H]`: written.
    pub activations: [&'a View; 3],
    /// Gradients before these activations: written.
    pub gradients: [&'a View; 3],
    /// Gradient of each stream's taken distribution, `[B, streams * 64]`: written but for the columns beyond the atoms.
    pub head_gradient: &'a View,
    /// Loss of each row, `[1, B]`.
    pub row_loss: &'a View,
    /// [`LossTotal`] per member, added to.
    pub total: &'a View,
    /// Whether branches share the mixture of their targets.
    pub mixture: bool,
    /// Factor of the gradient that the streams send into the trunk.
    pub trunk_scale: f32,
}

/// What the weights' gradients need of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// States s, `[B, S]`.
    pub x: &'a View,
    /// Actions taken, `[B, D]` bytes without gaps.
    pub actions: &'a View,
}

impl Kept<'_> {
    pub(super) fn check(
        &self,
        check: &Check,
        real: Element,
        shape: &DqnShape,
        batch: usize,
    ) -> Result<(), KernelError> {
        check.view(self.x, real, batch, shape.inputs)?;
        check.view(self.actions, Element::U8, batch, shape.head.actions.len())?;
        check.dense(self.actions)
    }
}

impl DqnRows<'_> {
    pub(super) fn check(&self, check: &Check, real: Element, shape: &DqnShape) -> Result<(), KernelError> {
        self.online.check(check, real, shape)?;
        self.target.check(check, real, shape)?;
        let (batch, branches, streams) = (self.outcome.rows, shape.head.actions.len(), shape.streams());
        check.view(self.x, real, 2 * batch, shape.inputs)?;
        self.kept.check(check, real, shape, batch)?;
        check.view(self.mean, real, mean_rows(&shape.head), shape.stream)?;
        check.view(self.actions, Element::U8, batch, branches)?;
        check.view(self.outcome, Element::of::<Outcome>(), batch, 1)?;
        check.dense(self.outcome)?;
        for of in [self.activations, self.gradients] {
            for (v, cols) in of.into_iter().zip(shape.layers()) {
                check.view(v, real, batch, cols)?;
            }
        }
        check.view(self.head_gradient, real, batch, streams * GRADIENT_COLUMNS)?;
        check.view(self.row_loss, real, 1, batch)?;
        check.view(self.total, Element::of::<LossTotal>(), 1, 1)
    }

    /// What the kernels read and what they write.
    pub(super) fn touched(&self) -> (Vec<&View>, Vec<&View>) {
        let mut reads = self.online.views();
        reads.extend(self.target.views());
        reads.extend([self.mean, self.x, self.actions, self.outcome, self.total]);
        let writes = ([self.kept.x, self.kept.actions].into_iter())
            .chain(self.activations)
            .chain(self.gradients)
            .chain([self.head_gradient, self.row_loss, self.total])
            .collect();
        (reads, writes)
    }
}

// The maps come first and in the order of `mapped` below.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct RowsArgs {
    online: NetMaps,
    target: NetMaps,
    x: MapSlot,
    mean: MapSlot,
    kept_x: MapSlot,
    h1: MapSlot,
    h2: MapSlot,
    h3: MapSlot,
    d1: MapSlot,
    d2: MapSlot,
    d3: MapSlot,
    online_bias: NetBiases,
    target_bias: NetBiases,
    actions: MemberPtr,
    kept_actions: MemberPtr,
    outcome: MemberPtr,
    g: MemberPtr,
    row_loss: MemberPtr,
    total: MemberPtr,
    rows: i32,
    ld_actions: i32,
    ld_g: i32,
    mixture: i32,
    scale: f32,
    trunk_scale: f32,
    v_min: f32,
    inv_dz: f32,
}

/// Forward passes, loss, and gradients of activations of a step.
///
/// # Errors
/// Buffers that don't fit, or a network that the kernel is not written for.
pub fn dqn_rows(members: usize, shape: &DqnShape, x: &DqnRows<'_>) -> Result<Launch, KernelError> {
    let check = Check::new("dqn_rows", members);
    shape.check(&check)?;
    x.check(&check, REAL, shape)?;
    let (batch, branches) = (x.outcome.rows, shape.head.actions.len());
    let head = &shape.head;
    let dz = (head.v_max - head.v_min) / (head.atoms - 1) as f32;
    let args = RowsArgs {
        online: NetMaps::EMPTY,
        target: NetMaps::EMPTY,
        x: MapSlot::EMPTY,
        mean: MapSlot::EMPTY,
        kept_x: MapSlot::EMPTY,
        h1: MapSlot::EMPTY,
        h2: MapSlot::EMPTY,
        h3: MapSlot::EMPTY,
        d1: MapSlot::EMPTY,
        d2: MapSlot::EMPTY,
        d3: MapSlot::EMPTY,
        online_bias: NetBiases::of(&x.online),
        target_bias: NetBiases::of(&x.target),
        actions: x.actions.ptr(),
        kept_actions: x.kept.actions.ptr(),
        outcome: x.outcome.ptr(),
        g: x.head_gradient.ptr(),
        row_loss: x.row_loss.ptr(),
        total: x.total.ptr(),
        rows: batch as i32,
        ld_actions: x.actions.ld as i32,
        ld_g: x.head_gradient.ld as i32,
        mixture: x.mixture.into(),
        scale: 1.0 / (batch * branches) as f32,
        trunk_scale: x.trunk_scale,
        v_min: head.v_min,
        inv_dz: 1.0 / dz,
    };
    let mapped: Vec<&View> = (x.online.weights.into_iter())
        .chain(x.target.weights)
        .chain([x.x, x.mean, x.kept.x])
        .chain(x.activations)
        .chain(x.gradients)
        .collect();
    for v in &mapped {
        check_mapped(&check, members, v)?;
    }
    let tiles = batch.div_ceil(ROWS_PER_GROUP);
    let groups = groups_of(tiles, members);
    let roles = match FEW_TILES / (tiles * members) {
        0 | 1 => 1,
        2 => 2,
        5.. if branches > 1 => 5,
        _ => 3,
    };
    let (reads, writes) = x.touched();
    let teams = tiles.div_ceil(groups) * roles;
    let mut out = launch(&tree::DQN_ROWS, DType::Bf16, (teams, members), &args, &reads, &writes)?;
    // The loader waits, and for the mean alone.
    let waited_for = x.mean.region();
    out.early = out.reads.iter().chain(&out.writes).filter(|r| **r != waited_for).cloned().collect();
    out.defines = shape.defines();
    out.defines.extend([("DQN_GROUPS", groups as u32), ("DQN_ROLES", roles as u32)]);
    out.maps = mapped.into_iter().enumerate().map(|(slot, v)| map(slot, v)).collect();
    Ok(out)
}
