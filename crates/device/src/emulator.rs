use crate::{KernelInfo, Launch};
use std::fmt;

/// What runs, on a CPU, kernels that have no host build: for tests.
pub trait Emulator: fmt::Debug + Send + Sync {
    /// What the kernel of a launch says of itself.
    ///
    /// # Errors
    /// A launch that can't be emulated.
    fn info(&self, launch: &Launch) -> Result<KernelInfo, String>;

    /// Runs a launch to its end.
    ///
    /// # Errors
    /// What the kernel does wrong.
    fn run(&self, launch: &Launch) -> Result<(), String>;
}
