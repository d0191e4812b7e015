//! The kernel tree: every source for NVRTC, every host build.

use foxhunt_core::DType;
use foxhunt_device::{HostBuild, Isa, Kernel, KernelInfo, KernelTree, Source};
use std::ffi::c_void;

include!(concat!(env!("OUT_DIR"), "/tree.rs"));

/// All kernels and sources.
pub static TREE: KernelTree = KernelTree { sources: SOURCES, kernels: KERNELS };
