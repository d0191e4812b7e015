//! `bench step --soak`: many steps leave memory flat, no launch allocates, and no step waits for the device.

use crate::{BenchError, Outcome};
use foxhunt_core::Weights;
use foxhunt_device::{Counts, Device, Program};
use serde::Serialize;
use std::time::Instant;

/// A long run of a program.
#[derive(Clone, Copy, Debug)]
pub struct Soak {
    /// Runs of the program.
    pub steps: u32,
}

/// What was seen while it ran.
#[derive(Clone, Debug, Serialize)]
pub struct SoakResult {
    /// Transitions of a batch.
    pub batch: usize,
    /// Population members.
    pub population: usize,
    /// Storage type.
    pub dtype: String,
    /// How weights and targets are stored.
    pub weights: Weights,
    /// Steps taken.
    pub steps: u32,
    /// Bytes allocated through the device, before and after: equal, or it would have failed.
    pub allocated: (usize, usize),
    /// By how much the device's free memory fell, which other processes change too; unknown on a CPU.
    pub free_fell: Option<i64>,
    /// Microseconds of a step until the host had queued all of them.
    pub queued_us: f64,
    /// Microseconds of a step until the device was done.
    pub us: f64,
    /// Mean loss of all samples.
    pub loss: f64,
}

/// What a [`Soak`] saw, whatever the program is.
pub(crate) struct Soaked {
    pub(crate) allocated: (usize, usize),
    pub(crate) free_fell: Option<i64>,
    pub(crate) queued_us: f64,
    pub(crate) us: f64,
}

impl Soak {
    /// Runs `program`, which was run before, so that whatever is done once has been done.
    pub(crate) fn run(&self, device: &Device, program: &Program) -> Result<Soaked, BenchError> {
        let failed = |what: String| Err(BenchError::Soak { steps: self.steps, what });
        device.synchronize()?;
        let (before, counts) = (device.memory()?, device.counts());
        let start = Instant::now();
        let per_step = || start.elapsed().as_secs_f64() * 1e6 / f64::from(self.steps.max(1));
        program.run(self.steps)?;
        let queued_us = per_step();
        // Counted before the wait at the end, which is the soak's own.
        let done = device.counts();
        device.synchronize()?;
        let us = per_step();
        let after = device.memory()?;
        if done != counts {
            let Counts { allocations, transfers, waits } = counts;
            return failed(format!(
                "{} allocations, {} transfers and {} waits, of which a step needs none",
                done.allocations - allocations,
                done.transfers - transfers,
                done.waits - waits
            ));
        }
        if before.allocated != after.allocated {
            return failed(format!("{} bytes are allocated, {} before", after.allocated, before.allocated));
        }
        let free_fell =
            before.free_and_total.zip(after.free_and_total).map(|((b, _), (a, _))| b as i64 - a as i64);
        Ok(Soaked { allocated: (before.allocated, after.allocated), free_fell, queued_us, us })
    }
}

impl Outcome for SoakResult {
    const WORKLOAD: &'static str = "soak";

    fn columns() -> Vec<(&'static str, usize)> {
        vec![
            ("dtype", 5),
            ("weights", 7),
            ("B", 6),
            ("P", 4),
            ("steps", 8),
            ("queued us", 10),
            ("us/step", 10),
            ("allocated MiB", 13),
            ("free fell MiB", 13),
            ("loss", 8),
        ]
    }

    fn cells(&self) -> Vec<String> {
        let mib = |bytes: f64| bytes / f64::from(1 << 20);
        vec![
            self.dtype.clone(),
            self.weights.to_string(),
            self.batch.to_string(),
            self.population.to_string(),
            self.steps.to_string(),
            format!("{:.1}", self.queued_us),
            format!("{:.1}", self.us),
            format!("{:.1}", mib(self.allocated.1 as f64)),
            self.free_fell.map_or("-".into(), |b| format!("{:.1}", mib(b as f64))),
            format!("{:.4}", self.loss),
        ]
    }
}
