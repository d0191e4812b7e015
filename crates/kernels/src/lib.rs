//! The kernel tree `cu/` and its typed, checked launchers. Allocates nothing.
//!
//! A launcher takes [`View`]s of buffers, checks their elements, shapes and alignment, and returns a
//! [`foxhunt_device::Launch`] that a program can run. Its file has the name of the `.cu` file.

pub mod env;
pub mod fused;
pub mod layer;
pub mod loss;
pub mod market;
pub mod optim;
pub mod replay;
pub mod test;
mod tree;
mod view;

pub use tree::TREE;
pub use view::{Element, View};

use foxhunt_core::DType;
use foxhunt_device::{Kernel, Launch};

/// A launcher refused its buffers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("kernel {kernel}: {what}")]
pub struct KernelError {
    /// Which kernel.
    pub kernel: &'static str,
    /// What doesn't fit.
    pub what: String,
}

/// A launch of `teams` teams per member, its buffers checked by the caller.
pub(crate) fn launch<T: bytemuck::NoUninit>(
    kernel: &'static Kernel,
    dtype: DType,
    (teams, members): (usize, usize),
    args: &T,
    reads: &[&View],
    writes: &[&View],
) -> Launch {
    Launch {
        kernel,
        dtype,
        defines: Vec::new(),
        maps: Vec::new(),
        beside: false,
        args: bytemuck::bytes_of(args).to_vec(),
        teams: teams as u32,
        members: members as u32,
        reads: reads.iter().map(|v| v.region()).collect(),
        writes: writes.iter().map(|v| v.region()).collect(),
    }
}
