use foxhunt_device::DeviceError;
use foxhunt_kernels::KernelError;

/// What can go wrong with a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Operations whose shapes don't fit.
    #[error("{op}: {what}")]
    Shape {
        /// The operation.
        op: &'static str,
        /// What doesn't fit.
        what: String,
    },
    /// A launcher refused its buffers.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// No tensor, parameter or program of this name.
    #[error("the plan has no {what} called '{name}'")]
    Unknown {
        /// Tensor, parameter or program.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Host data of the wrong length or kind for a tensor.
    #[error("{tensor} takes {expected} values, got {got}")]
    Values {
        /// Which tensor.
        tensor: String,
        /// Values it takes.
        expected: usize,
        /// Values given.
        got: usize,
    },
    /// A guard between two buffers was overwritten.
    #[error("the guard bytes after {tensor} were overwritten")]
    Guard {
        /// The buffer before the guard.
        tensor: String,
    },
}
