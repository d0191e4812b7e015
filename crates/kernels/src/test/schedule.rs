//! Launcher of `schedule.cu`.

use crate::{Element, KernelError, View, launch, optim::Hyper, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct ScheduleArgs {
    hyper: MemberPtr,
    steps: MemberPtr,
    rate: MemberPtr,
    count: i32,
    reserved: i32,
}

/// The learning rate of `hyper [1, 1]` at each of `steps [1, n]`, counted from 1.
///
/// # Errors
/// Buffers that don't fit.
pub fn schedule(
    dtype: DType,
    members: usize,
    (hyper, steps): (&View, &View),
    rate: &View,
) -> Result<Launch, KernelError> {
    let check = Check::new("schedule", members);
    check.view(hyper, Element::of::<Hyper>(), 1, 1)?;
    check.view(steps, Element::U64, 1, steps.cols)?;
    check.view(rate, Element::Real(dtype), 1, steps.cols)?;
    let args = ScheduleArgs {
        hyper: hyper.ptr(),
        steps: steps.ptr(),
        rate: rate.ptr(),
        count: steps.cols as i32,
        reserved: 0,
    };
    launch(&tree::SCHEDULE, dtype, (1, members), &args, &[hyper, steps], &[rate])
}
