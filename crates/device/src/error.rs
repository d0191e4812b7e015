use foxhunt_core::DType;

/// What can go wrong on a device. Names the kernel, its launch shape and its buffers where there are any.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// More memory was asked for than there is.
    #[error("the device can't allocate {bytes} bytes: {reason}")]
    OutOfMemory {
        /// What was asked for.
        bytes: usize,
        /// What the system said.
        reason: String,
    },
    /// A read or write beyond an arena.
    #[error("{bytes} bytes at offset {offset} lie beyond the arena's {size}")]
    OutOfBounds {
        /// Where.
        offset: usize,
        /// How many.
        bytes: usize,
        /// The arena's size.
        size: usize,
    },
    /// A launcher and its kernel disagree about the argument struct.
    #[error("kernel {kernel} ({dtype}) takes {expected} bytes of arguments, its launcher gave {got}")]
    Arguments {
        /// Which kernel.
        kernel: &'static str,
        /// Which build.
        dtype: DType,
        /// What the kernel was compiled with.
        expected: u32,
        /// What the launch carries.
        got: usize,
    },
    /// A kernel without a build for this dtype and instruction set.
    #[error("kernel {kernel} has no host build for {dtype}")]
    NoHostBuild {
        /// Which kernel.
        kernel: &'static str,
        /// Which dtype.
        dtype: DType,
    },
    /// A matrix product that doesn't fit its operands, or that the library refuses.
    #[error("matrix product {name}: {what}")]
    Gemm {
        /// What the product is for.
        name: String,
        /// What is wrong.
        what: String,
    },
}
