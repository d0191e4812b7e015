//! What a device was asked for beside replays of programs: the proof that a step needs none of it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Calls since a device was opened. A difference of two tells what happened between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Allocations of device memory.
    pub allocations: u64,
    /// Copies between host and device, and fills.
    pub transfers: u64,
    /// Times that the host waited for the device, copies included where a GPU makes it wait for them.
    pub waits: u64,
}

/// The running counts of a device.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    allocations: AtomicU64,
    transfers: AtomicU64,
    waits: AtomicU64,
}

impl Counters {
    pub(crate) fn allocation(&self) {
        self.allocations.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn transfer(&self) {
        self.transfers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn wait(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Counts {
        let of = |x: &AtomicU64| x.load(Ordering::Relaxed);
        Counts { allocations: of(&self.allocations), transfers: of(&self.transfers), waits: of(&self.waits) }
    }
}
