//! Kernels of some GPUs alone, run on a CPU, for tests.
//!
//! The fused kernels (`crates/kernels/cu/fused`) are written in threads, warps and clusters, with barriers that count bytes,
//! copies and products that go on beside a thread: they have no host build. Their only words for all that are in `warp.cuh`,
//! `hopper.cuh` and `ampere.cuh`, so they compile against other files of those names (in `cu` here) in which a thread is a
//! coroutine and every word calls this crate. The order of threads is random, a copy or a product happens at any moment that its barriers allow, the memory
//! of a block begins as NaN, and what no machine would forgive is an error with the thread's name: an address beyond the block,
//! a barrier that was never made, a read through the copy engine of what was not published, a deadlock.
//!
//! Arithmetic is F32 in order, which is neither the order nor the width of tensor cores: results agree with a GPU's within a
//! tolerance. Nothing here says how fast a kernel is.

mod block;
mod calls;
mod cluster;
mod copy;
mod piece;
mod product;
mod table;

use cluster::{Cluster, Place};
use copy::encode;
use foxhunt_core::rng::member_seed;
use foxhunt_device::{Device, Emulator, KernelInfo, Launch};
use rayon::prelude::*;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use table::Build;

/// An emulated Hopper GPU.
#[derive(Debug)]
pub struct Hopper {
    /// What a test makes of a launch before it runs.
    change: fn(Launch) -> Launch,
    /// Seed of the order in which things happen, which no result may depend on: another at every launch.
    seed: AtomicU64,
}

impl Hopper {
    /// The CPU as a device that runs these kernels too. From one seed, things happen in the same order again.
    pub fn device(seed: u64) -> Device {
        Self::changing(seed, |launch| launch)
    }

    /// The same with launches as `change` makes them of those that it is given, such as in other blocks.
    pub fn changing(seed: u64, change: fn(Launch) -> Launch) -> Device {
        Device::cpu_emulating(Arc::new(Hopper { change, seed: AtomicU64::new(seed) }))
    }
}

/// Arguments, aligned as tensor maps must be.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

impl Emulator for Hopper {
    fn info(&self, launch: &Launch) -> Result<KernelInfo, String> {
        Ok(Build::of(&(self.change)(launch.clone()))?.kernel_info())
    }

    fn run(&self, launch: &Launch) -> Result<(), String> {
        let launch = &(self.change)(launch.clone());
        let build = Build::of(launch)?;
        let info = build.info();
        let blocks = info.cluster.max(1);
        if !launch.teams.is_multiple_of(blocks) {
            return Err(format!("{} blocks are no whole clusters of {blocks}", launch.teams));
        }
        let mut args = launch.args.clone();
        for map in &launch.maps {
            encode(map, &mut args);
        }
        let mut aligned = vec![Line([0; 64]); args.len().div_ceil(64)];
        aligned
            .iter_mut()
            .zip(args.chunks(64))
            .for_each(|(line, bytes)| line.0[..bytes.len()].copy_from_slice(bytes));
        let args = aligned.as_ptr() as usize;
        let clusters = launch.teams / blocks;
        let seed = self.seed.fetch_add(1, Ordering::Relaxed);
        (0..launch.members * clusters).into_par_iter().try_for_each(|i| {
            let place = Place { first_block: i % clusters * blocks, member: i / clusters };
            Cluster::new(&info, place, member_seed(seed, u64::from(i))).run(build.entry, args)
        })
    }
}
