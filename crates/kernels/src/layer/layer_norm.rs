//! Launchers of `layer_norm.cu`.

use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

/// Columns that the host builds can hold on chip.
const MOST_COLUMNS: usize = 4096;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct LayerNormArgs {
    x: MemberPtr,
    gain: MemberPtr,
    bias: MemberPtr,
    dy: MemberPtr,
    y: MemberPtr,
    dx: MemberPtr,
    part_gain: MemberPtr,
    part_bias: MemberPtr,
    rows: i32,
    n: i32,
    ld: i32,
    parts: i32,
    eps: f32,
    inv_n: f32,
}

/// What forward and backward share.
#[derive(Debug)]
pub struct LayerNorm<'a> {
    /// Input `[rows, n]`.
    pub x: &'a View,
    /// Gain `[1, n]`.
    pub gain: &'a View,
    /// Added to the variance.
    pub eps: f32,
}

fn compile_bound(launch: &mut Launch, n: usize) {
    launch.defines.push(("LN_N", n.next_multiple_of(256) as u32));
}

fn args(x: &LayerNorm<'_>, rows: usize) -> LayerNormArgs {
    let unused = x.x.ptr();
    LayerNormArgs {
        x: x.x.ptr(),
        gain: x.gain.ptr(),
        bias: x.gain.ptr(),
        dy: unused,
        y: unused,
        dx: unused,
        part_gain: unused,
        part_bias: unused,
        rows: rows as i32,
        n: x.x.cols as i32,
        ld: x.x.ld as i32,
        parts: 1,
        eps: x.eps,
        inv_n: 1.0 / x.x.cols as f32,
    }
}

fn check_rows(check: &Check, dtype: DType, x: &LayerNorm<'_>, others: &[&View]) -> Result<(), KernelError> {
    let (rows, n) = (others[0].rows, x.x.cols);
    check.that(n <= MOST_COLUMNS, || format!("{n} columns, at most {MOST_COLUMNS}"))?;
    check.that(rows <= x.x.rows, || format!("{} has {} rows, fewer than {rows}", x.x.name, x.x.rows))?;
    check.view(x.gain, Element::Real(dtype), 1, n)?;
    check.view(&x.x.slice_rows(0, rows), Element::Real(dtype), rows, n)?;
    for v in others {
        check.view(v, Element::Real(dtype), rows, n)?;
        check.that(v.ld == x.x.ld, || format!("{} and {} differ in ld", v.name, x.x.name))?;
    }
    Ok(())
}

/// `y = (x - mean) rstd gain + bias`.
///
/// # Errors
/// Buffers that don't fit.
pub fn layer_norm_forward(
    dtype: DType,
    members: usize,
    x: &LayerNorm<'_>,
    (bias, y): (&View, &View),
) -> Result<Launch, KernelError> {
    let check = Check::new("layer_norm_forward", members);
    check_rows(&check, dtype, x, &[y])?;
    check.view(bias, Element::Real(dtype), 1, x.x.cols)?;
    let args = LayerNormArgs { bias: bias.ptr(), y: y.ptr(), ..args(x, y.rows) };
    let mut out =
        launch(&tree::LAYER_NORM_FORWARD, dtype, (y.rows, members), &args, &[x.x, x.gain, bias], &[y])?;
    compile_bound(&mut out, x.x.cols);
    Ok(out)
}

/// `dx`, and the partial sums of the gradients of gain and bias, `part_gain` and `part_bias` `[parts, n]`.
///
/// # Errors
/// Buffers that don't fit.
pub fn layer_norm_backward(
    dtype: DType,
    members: usize,
    x: &LayerNorm<'_>,
    (dy, dx): (&View, &View),
    (part_gain, part_bias): (&View, &View),
) -> Result<Launch, KernelError> {
    let check = Check::new("layer_norm_backward", members);
    check_rows(&check, dtype, x, &[dy, dx])?;
    let parts = part_gain.rows;
    for part in [part_gain, part_bias] {
        check.view(part, Element::Real(dtype), parts, x.x.cols)?;
        check.that(part.ld == x.x.ld, || format!("{} and {} differ in ld", part.name, x.x.name))?;
    }
    let args = LayerNormArgs {
        dy: dy.ptr(),
        dx: dx.ptr(),
        part_gain: part_gain.ptr(),
        part_bias: part_bias.ptr(),
        parts: parts as i32,
        ..args(x, dy.rows)
    };
    let mut out = launch(
        &tree::LAYER_NORM_BACKWARD,
        dtype,
        (parts, members),
        &args,
        &[x.x, x.gain, dy],
        &[dx, part_gain, part_bias],
    )?;
    compile_bound(&mut out, x.x.cols);
    Ok(out)
}
