use foxhunt_device::DeviceError;
use foxhunt_kernels::KernelError;

/// Environments that can't be made.
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    /// Sizes that don't fit one another.
    #[error("environments: {0}")]
    Shape(String),
    /// Tables that don't fit one another.
    #[error("tables of the environments: {0}")]
    Tables(String),
    /// A member's specification.
    #[error("member {member} of the environments, {field}: {problem}")]
    Member {
        /// Its number.
        member: usize,
        /// Which field.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A launcher refused its buffers.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
