//! Launcher of `dqn_mean.cu`.

use crate::{Element, KernelError, View, launch, loss::HeadShape, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct MeanArgs {
    w: MemberPtr,
    target: MemberPtr,
    mean: MemberPtr,
    branches: i32,
    unit_packs: i32,
    actions: [i32; 4],
}

/// Rows of `mean`: two nets, their branches, two words, `unit_ld` rows each.
pub fn mean_rows(shape: &HeadShape) -> usize {
    2 * shape.actions.len() * 2 * shape.unit_ld()
}

/// Minus the mean over each branch's units of `w` and of `target`, `[units * unit_ld, H]`, as high and low words
/// `[mean_rows, H]`.
///
/// # Errors
/// Buffers that don't fit.
pub fn dqn_mean(
    dtype: DType,
    members: usize,
    shape: &HeadShape,
    [w, target]: [&View; 2],
    mean: &View,
) -> Result<Launch, KernelError> {
    let check = Check::new("dqn_mean", members);
    shape.check(&check)?;
    let real = Element::Real(dtype);
    for v in [w, target] {
        check.view(v, real, shape.logit_columns(), w.cols)?;
        check.dense(v)?;
    }
    check.view(mean, real, mean_rows(shape), w.cols)?;
    check.dense(mean)?;
    let mut actions = [0; 4];
    for (a, n) in actions.iter_mut().zip(&shape.actions) {
        *a = *n as i32;
    }
    let unit_packs = shape.unit_ld() * w.cols / 8;
    let args = MeanArgs {
        w: w.ptr(),
        target: target.ptr(),
        mean: mean.ptr(),
        branches: shape.actions.len() as i32,
        unit_packs: unit_packs as i32,
        actions,
    };
    let teams = (2 * shape.actions.len() * unit_packs).div_ceil(256);
    let mean = launch(&tree::DQN_MEAN, dtype, (teams, members), &args, &[w, target], &[mean])?;
    Ok(Launch { beside: true, ..mean })
}
