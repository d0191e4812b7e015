//! Launchers of `elementwise.cu`.

use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

const PACKS_PER_TEAM: usize = 256;
/// Summands of one launch.
const MOST: usize = 8;

/// An activation function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Activation {
    /// `max(x, 0)`.
    Relu = 0,
    /// Hyperbolic tangent.
    Tanh = 1,
}

/// Checks that the views are the same matrix shape and returns their packs.
fn packs(check: &Check, dtype: DType, views: &[&View]) -> Result<usize, KernelError> {
    let first = views[0];
    for v in views {
        check.view(v, Element::Real(dtype), first.rows, first.cols)?;
        check.that(v.ld == first.ld, || format!("{} and {} differ in ld", v.name, first.name))?;
    }
    Ok(first.rows * first.ld / 8)
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct SumArgs {
    x: [MemberPtr; MOST],
    y: MemberPtr,
    count: i32,
    packs: i32,
}

/// `y = x0 + x1 + …`, one to eight summands in order, in F32, rounded once.
///
/// # Errors
/// Buffers that don't fit, or too many.
pub fn sum(dtype: DType, members: usize, x: &[&View], y: &View) -> Result<Launch, KernelError> {
    let check = Check::new("sum", members);
    check.that((1..=MOST).contains(&x.len()), || format!("{} summands, not 1 to {MOST}", x.len()))?;
    let mut all = x.to_vec();
    all.push(y);
    let packs = packs(&check, dtype, &all)?;
    let mut ptrs = [x[0].ptr(); MOST];
    for (p, v) in ptrs.iter_mut().zip(x) {
        *p = v.ptr();
    }
    let args = SumArgs { x: ptrs, y: y.ptr(), count: x.len() as i32, packs: packs as i32 };
    launch(&tree::SUM, dtype, (packs.div_ceil(PACKS_PER_TEAM), members), &args, x, &[y])
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct ActivateArgs {
    x: MemberPtr,
    y: MemberPtr,
    kind: i32,
    packs: i32,
}

/// `y = f(x)`.
///
/// # Errors
/// Buffers that don't fit.
pub fn activate(
    dtype: DType,
    members: usize,
    f: Activation,
    x: &View,
    y: &View,
) -> Result<Launch, KernelError> {
    let packs = packs(&Check::new("activate", members), dtype, &[x, y])?;
    let args = ActivateArgs { x: x.ptr(), y: y.ptr(), kind: f as i32, packs: packs as i32 };
    launch(&tree::ACTIVATE, dtype, (packs.div_ceil(PACKS_PER_TEAM), members), &args, &[x], &[y])
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct ActivateBackwardArgs {
    dy: MemberPtr,
    y: MemberPtr,
    dx: MemberPtr,
    kind: i32,
    packs: i32,
}

/// `dx = dy f'(x)`, from `y = f(x)`.
///
/// # Errors
/// Buffers that don't fit.
pub fn activate_backward(
    dtype: DType,
    members: usize,
    f: Activation,
    (dy, y, dx): (&View, &View, &View),
) -> Result<Launch, KernelError> {
    let packs = packs(&Check::new("activate_backward", members), dtype, &[dy, y, dx])?;
    let args =
        ActivateBackwardArgs { dy: dy.ptr(), y: y.ptr(), dx: dx.ptr(), kind: f as i32, packs: packs as i32 };
    launch(&tree::ACTIVATE_BACKWARD, dtype, (packs.div_ceil(PACKS_PER_TEAM), members), &args, &[dy, y], &[dx])
}
