//! The kernel tree `cu/` and its typed, checked launchers. Allocates nothing.
//!
//! A launcher takes [`View`]s of buffers, checks their elements, shapes and alignment, and returns a
//! [`foxhunt_device::Launch`] that a program can run. Its file has the name of the `.cu` file.

pub mod env;
pub mod market;
pub mod optim;
mod tree;
mod view;

pub use tree::TREE;
pub use view::{Element, View};

/// A launcher refused its buffers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("kernel {kernel}: {what}")]
pub struct KernelError {
    /// Which kernel.
    pub kernel: &'static str,
    /// What doesn't fit.
    pub what: String,
}

/// An argument struct as bytes.
pub(crate) fn args<T: bytemuck::NoUninit>(args: &T) -> Vec<u8> {
    bytemuck::bytes_of(args).to_vec()
}
