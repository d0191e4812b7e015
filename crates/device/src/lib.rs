//! CPU or CUDA: memory, launches, matrix products, graphs. Knows no operation by name.
//!
//! A [`Device`] allocates an [`Arena`]; a list of [`Command`]s that point into it is compiled once to a [`Program`]
//! and run many times. On a CPU that is the list itself; on a GPU it is captured into a CUDA graph and replayed.
//! Every difference between the two ends here.

mod arena;
mod counts;
mod cpu;
mod cuda;
mod device;
mod emulator;
mod error;
mod gemm;
mod kernel;
mod program;
mod traffic;

pub use arena::{ARENA_ALIGN, Arena};
pub use counts::Counts;
pub use cuda::{
    CompiledFile, CompiledKernel, CudaDevice, CudaInfo, Library, LibraryReport, SHARED_STATIC_LIMIT,
    compile_all, shared_limit,
};
pub use device::{Device, DeviceChoice, MemoryReport, training_dtype};
pub use emulator::Emulator;
pub use error::DeviceError;
pub use gemm::{Gemm, Operand};
pub use kernel::{HostBuild, HostEntry, Isa, Kernel, KernelInfo, KernelTree, Source};
pub use program::{Command, Launch, MemberPtr, Program, Region, TENSOR_MAP_BYTES, TensorMap};
pub use traffic::Traffic;
