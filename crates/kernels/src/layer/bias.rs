//! Launchers of `bias.cu`.

use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

const COLUMNS_PER_TEAM: usize = 64;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct BiasArgs {
    x: MemberPtr,
    b: MemberPtr,
    y: MemberPtr,
    rows: i32,
    n: i32,
    ld_x: i32,
    ld_y: i32,
    relu: i32,
    reserved: i32,
}

/// `y = x + b`, with ReLU if `relu`. `y` may be `x`.
///
/// # Errors
/// Buffers that don't fit.
pub fn bias_forward(
    dtype: DType,
    members: usize,
    (x, b, y): (&View, &View, &View),
    relu: bool,
) -> Result<Launch, KernelError> {
    let check = Check::new("bias_forward", members);
    let real = Element::Real(dtype);
    check.view(x, real, x.rows, x.cols)?;
    check.view(b, real, 1, x.cols)?;
    check.view(y, real, x.rows, x.cols)?;
    let args = BiasArgs {
        x: x.ptr(),
        b: b.ptr(),
        y: y.ptr(),
        rows: x.rows as i32,
        n: x.cols as i32,
        ld_x: x.ld as i32,
        ld_y: y.ld as i32,
        relu: relu.into(),
        reserved: 0,
    };
    launch(&tree::BIAS_FORWARD, dtype, (x.rows, members), &args, &[x, b], &[y])
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct BiasGradientArgs {
    dy: MemberPtr,
    y: MemberPtr,
    dz: MemberPtr,
    part: MemberPtr,
    rows: i32,
    n: i32,
    ld: i32,
    ld_part: i32,
    parts: i32,
    relu: i32,
}

/// Column sums of `dy` (masked by `y > 0` and kept in `dz` where `relu` gives both) in `part.rows` runs of rows.
///
/// # Errors
/// Buffers that don't fit.
pub fn bias_backward(
    dtype: DType,
    members: usize,
    dy: &View,
    relu: Option<(&View, &View)>,
    part: &View,
) -> Result<Launch, KernelError> {
    let check = Check::new("bias_backward", members);
    let real = Element::Real(dtype);
    check.view(dy, real, dy.rows, dy.cols)?;
    check.view(part, real, part.rows, dy.cols)?;
    let (y, dz) = relu.unwrap_or((dy, dy));
    for v in [y, dz] {
        check.view(v, real, dy.rows, dy.cols)?;
        check.that(v.ld == dy.ld, || format!("{} and {} differ in ld", v.name, dy.name))?;
    }
    let args = BiasGradientArgs {
        dy: dy.ptr(),
        y: y.ptr(),
        dz: dz.ptr(),
        part: part.ptr(),
        rows: dy.rows as i32,
        n: dy.cols as i32,
        ld: dy.ld as i32,
        ld_part: part.ld as i32,
        parts: part.rows as i32,
        relu: relu.is_some().into(),
    };
    let teams = part.rows * dy.cols.div_ceil(COLUMNS_PER_TEAM);
    let writes: &[&View] = if relu.is_some() { &[dz, part] } else { &[part] };
    launch(&tree::BIAS_BACKWARD, dtype, (teams, members), &args, &[dy, y], writes)
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct ColumnSumArgs {
    x: MemberPtr,
    out: MemberPtr,
    rows: i32,
    n: i32,
    ld: i32,
    reserved: i32,
}

/// `out[1, n]` = sum over the rows of `x[rows, n]`.
///
/// # Errors
/// Buffers that don't fit.
pub fn column_sum(dtype: DType, members: usize, x: &View, out: &View) -> Result<Launch, KernelError> {
    let check = Check::new("column_sum", members);
    let real = Element::Real(dtype);
    check.view(x, real, x.rows, x.cols)?;
    check.view(out, real, 1, x.cols)?;
    let args = ColumnSumArgs {
        x: x.ptr(),
        out: out.ptr(),
        rows: x.rows as i32,
        n: x.cols as i32,
        ld: x.ld as i32,
        reserved: 0,
    };
    launch(&tree::COLUMN_SUM, dtype, (x.cols.div_ceil(COLUMNS_PER_TEAM), members), &args, &[x], &[out])
}
