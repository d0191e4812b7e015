//! Launcher of `gradient_norm.cu`.

use super::adamw::IMAGE_COLUMNS;
use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

/// Partial sums per member, at most: every team of the optimiser adds them all up.
pub(super) const MOST_PARTIALS: usize = 1024;

/// Partial sums of an image of `tiles` rows. Follows from the net alone, so that a member's bits do not change with
/// the population.
pub fn norm_partials(tiles: usize) -> usize {
    tiles.div_ceil(tiles.div_ceil(MOST_PARTIALS))
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct NormArgs {
    g: MemberPtr,
    partial: MemberPtr,
    packs: i32,
    per_team: i32,
}

/// Squared norm of the gradient image `[tiles, 2048]` as partial sums `[1, norm_partials]` in 2^-32.
///
/// # Errors
/// Buffers that don't fit.
pub fn gradient_norm(dtype: DType, members: usize, g: &View, partial: &View) -> Result<Launch, KernelError> {
    let check = Check::new("gradient_norm", members);
    check.view(g, Element::Real(dtype), g.rows, IMAGE_COLUMNS)?;
    check.view(partial, Element::U64, 1, norm_partials(g.rows))?;
    let per_team = g.rows.div_ceil(MOST_PARTIALS) * IMAGE_COLUMNS / 8;
    let args = NormArgs {
        g: g.ptr(),
        partial: partial.ptr(),
        packs: (g.rows * IMAGE_COLUMNS / 8) as i32,
        per_team: per_team as i32,
    };
    launch(&tree::GRADIENT_NORM, dtype, (partial.cols, members), &args, &[g], &[partial])
}
