use foxhunt_core::DType;
use std::ffi::c_void;

/// What a kernel says of itself, in every build: the mirror of `KernelInfo` in `platform.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct KernelInfo {
    /// Size of the argument struct, checked against the launcher's at every launch that is built.
    pub args_bytes: u32,
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Teams of a block.
    pub teams: u32,
}

/// The instruction set of a host build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// Whatever the C++ compiler takes as baseline: right everywhere, slow at `fma`.
    Base,
    /// x86-64-v3 (AVX2, FMA, BMI2): the same bits, fast.
    V3,
    /// For tests: as the fastest of the others, with every item loop run backwards.
    Reversed,
}

/// `(args, member, first team, end of teams, teams in all)`.
pub type HostEntry = unsafe extern "C" fn(*const c_void, u32, u32, u32, u32);

/// One host build of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct HostBuild {
    /// Storage type it was compiled for.
    pub dtype: DType,
    /// Instruction set it was compiled for.
    pub isa: Isa,
    /// The code.
    pub entry: HostEntry,
    /// What it says of itself: a static of the host build.
    pub info: *const KernelInfo,
}

// SAFETY: `info` points to a constant of the program.
unsafe impl Send for HostBuild {}
// SAFETY: as above.
unsafe impl Sync for HostBuild {}

impl HostBuild {
    /// What the kernel says of itself.
    pub fn info(&self) -> KernelInfo {
        // SAFETY: points to a constant of the program (see the field).
        unsafe { *self.info }
    }
}

/// One entry point of the kernel tree in all its builds.
#[derive(Debug)]
pub struct Kernel {
    /// The symbol, `layer_norm_forward`.
    pub name: &'static str,
    /// The file of the tree that defines it, `layer_norm.cu`.
    pub file: &'static str,
    /// Its host builds.
    pub host: &'static [HostBuild],
}

/// One file of the kernel tree, as NVRTC gets it. Names are without folders and unique.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// `layer_norm.cu`, `platform.cuh`.
    pub name: &'static str,
    /// The text.
    pub text: &'static str,
}

/// The whole kernel tree.
#[derive(Debug)]
pub struct KernelTree {
    /// Every file, headers and kernels.
    pub sources: &'static [Source],
    /// Every entry point.
    pub kernels: &'static [&'static Kernel],
}
