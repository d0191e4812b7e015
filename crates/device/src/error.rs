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
    /// A kernel that is for one kind of GPU alone.
    #[error(
        "kernel {kernel} is for one kind of GPU and has no host build: a CPU runs the plan's span instead"
    )]
    GpuOnly {
        /// Which kernel.
        kernel: &'static str,
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
    /// A launch that can't be made or that the GPU refused.
    #[error("kernel {kernel} ({dtype}), {shape}: {what}; buffers: {buffers}")]
    Launch {
        /// Which kernel.
        kernel: &'static str,
        /// Which build.
        dtype: DType,
        /// Grid, block and shared memory, as far as they are known.
        shape: String,
        /// What is wrong.
        what: String,
        /// What the launch reads and writes.
        buffers: String,
    },
    /// A CUDA library is missing or too old.
    #[error("{0}")]
    Library(String),
    /// The CUDA driver refused.
    #[error("{doing}: {reason}")]
    Cuda {
        /// What was being done.
        doing: String,
        /// What the driver said.
        reason: String,
    },
    /// NVRTC refused a file of the kernel tree.
    #[error("NVRTC can't compile {file} ({dtype}) for {arch}: {what}")]
    Compile {
        /// Which file.
        file: String,
        /// Which build.
        dtype: DType,
        /// For which architecture.
        arch: String,
        /// The status and the compiler's log.
        what: String,
    },
    /// A GPU build that isn't as this program expects.
    #[error("the GPU build of {file}: {what}")]
    Module {
        /// Which file.
        file: String,
        /// What is wrong.
        what: String,
    },
}
