//! Launchers of `softmax.cu`.

use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

/// Columns that the host builds can hold on chip.
const MOST_COLUMNS: usize = 4096;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct SoftmaxArgs {
    x: MemberPtr,
    dy: MemberPtr,
    y: MemberPtr,
    rows: i32,
    n: i32,
    ld: i32,
    log: i32,
}

fn check_rows(check: &Check, dtype: DType, views: &[&View]) -> Result<(), KernelError> {
    let first = views[0];
    check.that(first.cols <= MOST_COLUMNS, || format!("{} columns, at most {MOST_COLUMNS}", first.cols))?;
    for v in views {
        check.view(v, Element::Real(dtype), first.rows, first.cols)?;
        check.that(v.ld == first.ld, || format!("{} and {} differ in ld", v.name, first.name))?;
    }
    Ok(())
}

/// Softmax of every row, or its logarithm if `log`.
///
/// # Errors
/// Buffers that don't fit.
pub fn softmax_forward(
    dtype: DType,
    members: usize,
    log: bool,
    x: &View,
    y: &View,
) -> Result<Launch, KernelError> {
    check_rows(&Check::new("softmax_forward", members), dtype, &[x, y])?;
    let args = SoftmaxArgs {
        x: x.ptr(),
        dy: x.ptr(),
        y: y.ptr(),
        rows: x.rows as i32,
        n: x.cols as i32,
        ld: x.ld as i32,
        log: log.into(),
    };
    let mut out = launch(&tree::SOFTMAX_FORWARD, dtype, (x.rows, members), &args, &[x], &[y])?;
    out.defines.push(("SM_N", x.cols.next_multiple_of(256) as u32));
    Ok(out)
}

/// `dx` from `dy` and the forward pass's result `y`.
///
/// # Errors
/// Buffers that don't fit.
pub fn softmax_backward(
    dtype: DType,
    members: usize,
    log: bool,
    (dy, y, dx): (&View, &View, &View),
) -> Result<Launch, KernelError> {
    check_rows(&Check::new("softmax_backward", members), dtype, &[dy, y, dx])?;
    let args = SoftmaxArgs {
        x: y.ptr(),
        dy: dy.ptr(),
        y: dx.ptr(),
        rows: dy.rows as i32,
        n: dy.cols as i32,
        ld: dy.ld as i32,
        log: log.into(),
    };
    let mut out = launch(&tree::SOFTMAX_BACKWARD, dtype, (dy.rows, members), &args, &[dy, y], &[dx])?;
    out.defines.push(("SM_N", dy.cols.next_multiple_of(256) as u32));
    Ok(out)
}
