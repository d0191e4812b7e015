//! The kernels that were compiled for emulation.

use foxhunt_core::DType;
use foxhunt_device::{KernelInfo, Launch};
use std::ffi::c_void;

/// What an emulated kernel says of itself: the mirror of `EmulatedInfo` in `hopper.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmulatedInfo {
    pub(crate) args_bytes: u32,
    pub(crate) shared_bytes: u32,
    pub(crate) threads: u32,
    /// Blocks of a cluster; 0 where there are none.
    pub(crate) cluster: u32,
}

/// A kernel with one set of bounds.
#[derive(Debug)]
pub(crate) struct Build {
    pub(crate) kernel: &'static str,
    dtype: DType,
    bounds: &'static [(&'static str, u32)],
    pub(crate) entry: unsafe extern "C" fn(*const c_void),
    info: *const EmulatedInfo,
}

// SAFETY: `info` points to a constant of the program.
unsafe impl Sync for Build {}

include!(concat!(env!("OUT_DIR"), "/table.rs"));

impl Build {
    /// The build that a launch asks for.
    pub(crate) fn of(launch: &Launch) -> Result<&'static Build, String> {
        let mut bounds = launch.defines.clone();
        bounds.sort_unstable();
        let name = launch.kernel.name;
        let wanted = |b: &&Build| b.kernel == name && b.dtype == launch.dtype && b.bounds == bounds;
        BUILDS.iter().find(wanted).ok_or_else(|| {
            let list: Vec<String> = bounds.iter().map(|(n, v)| format!("{n}={v}")).collect();
            format!(
                "was not compiled for emulation in {} with {}: add them to bounds.txt",
                launch.dtype,
                list.join(" ")
            )
        })
    }

    pub(crate) fn info(&self) -> EmulatedInfo {
        // SAFETY: points to a constant of the program (see the field).
        unsafe { *self.info }
    }

    /// As other kernels say it.
    pub(crate) fn kernel_info(&self) -> KernelInfo {
        let i = self.info();
        KernelInfo { args_bytes: i.args_bytes, shared_bytes: i.shared_bytes, threads: i.threads, teams: 1 }
    }
}
