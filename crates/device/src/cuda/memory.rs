//! Device memory, copies and timing, all in the order of the device's stream.

use super::{CudaDevice, doing, lock, reason};
use crate::DeviceError;
use cudarc::driver::{result, sys};
use std::sync::{Arc, atomic::Ordering};

/// One allocation.
#[derive(Debug)]
pub(crate) struct CudaMemory {
    pub(crate) addr: u64,
    bytes: usize,
}

impl CudaDevice {
    /// Zeroed memory. Given back by [`CudaDevice::free`].
    pub(crate) fn allocate(&self, bytes: usize) -> Result<CudaMemory, DeviceError> {
        self.bind()?;
        // SAFETY: a size above zero; the memory is zeroed below before anyone reads it.
        let addr = unsafe { result::malloc_sync(bytes) }.map_err(|e| DeviceError::OutOfMemory {
            bytes,
            reason: match result::mem_get_info() {
                Ok((free, total)) => {
                    format!("{}; {self} has {free} of {total} bytes free", reason(e))
                }
                Err(_) => format!("{} on {self}", reason(e)),
            },
        })?;
        self.allocated.fetch_add(bytes, Ordering::Relaxed);
        self.counters.allocation();
        let memory = CudaMemory { addr, bytes };
        match self.fill(addr, bytes, 0) {
            Ok(()) => Ok(memory),
            Err(e) => {
                self.free(&memory);
                Err(e)
            }
        }
    }

    /// Gives memory back, after all queued work that may use it.
    pub(crate) fn free(&self, memory: &CudaMemory) {
        let freed = self.bind().map_err(|e| e.to_string()).and_then(|()| {
            // SAFETY: allocated by `allocate` and freed once, by its owner's drop; the driver waits for queued work.
            unsafe { result::free_sync(memory.addr) }.map_err(reason)
        });
        self.allocated.fetch_sub(memory.bytes, Ordering::Relaxed);
        if let Err(e) = freed {
            self.faults.record(format!("freeing {} bytes at {:#x}: {e}", memory.bytes, memory.addr));
        }
    }

    /// Copies to the device; done on return. The caller has checked the range.
    pub(crate) fn write(&self, addr: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.bind()?;
        let what = || format!("copying {} bytes to {addr:#x} on {self}", data.len());
        let _queue = lock(&self.queue);
        // SAFETY: the range lies in an arena (checked by the caller); `data` lives until the wait below is over.
        doing(what, unsafe { result::memcpy_htod_async(addr, data, self.stream) })?;
        self.wait(what)
    }

    /// Copies from the device; done on return. The caller has checked the range.
    pub(crate) fn read(&self, addr: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.bind()?;
        let bytes = data.len();
        let what = || format!("copying {bytes} bytes from {addr:#x} on {self}, or work queued before that");
        let _queue = lock(&self.queue);
        // SAFETY: the range lies in an arena (checked by the caller); `data` lives until the wait below is over.
        doing(what, unsafe { result::memcpy_dtoh_async(data, addr, self.stream) })?;
        self.wait(what)
    }

    /// Queues setting `bytes` bytes to `value`. The caller has checked the range.
    pub(crate) fn fill(&self, addr: u64, bytes: usize, value: u8) -> Result<(), DeviceError> {
        self.bind()?;
        let _queue = lock(&self.queue);
        let what = || format!("filling {bytes} bytes at {addr:#x} on {self}");
        // SAFETY: the range lies in an arena (checked by the caller).
        doing(what, unsafe { result::memset_d8_async(addr, value, bytes, self.stream) })
    }

    /// Bytes allocated through this device, free bytes, bytes in all.
    pub(crate) fn memory(&self) -> Result<(usize, usize, usize), DeviceError> {
        self.bind()?;
        let (free, total) = doing(|| format!("memory of {self}"), result::mem_get_info())?;
        Ok((self.allocated.load(Ordering::Relaxed), free, total))
    }
}

/// A stopwatch on the device's stream.
pub(crate) struct CudaTimer {
    device: Arc<CudaDevice>,
    start: Event,
    end: Event,
}

struct Event {
    device: Arc<CudaDevice>,
    event: sys::CUevent,
}

impl Event {
    fn new(device: &Arc<CudaDevice>) -> Result<Self, DeviceError> {
        device.bind()?;
        let event = doing(|| "an event".into(), result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT))?;
        Ok(Event { device: device.clone(), event })
    }

    fn record(&self) -> Result<(), DeviceError> {
        self.device.bind()?;
        let _queue = lock(&self.device.queue);
        // SAFETY: event and stream are live and of one context.
        doing(|| "recording an event".into(), unsafe {
            result::event::record(self.event, self.device.stream)
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let destroyed = self.device.bind().map_err(|e| e.to_string()).and_then(|()| {
            // SAFETY: created in `new`, destroyed once.
            unsafe { result::event::destroy(self.event) }.map_err(reason)
        });
        if let Err(e) = destroyed {
            self.device.faults.record(format!("destroying an event: {e}"));
        }
    }
}

impl CudaTimer {
    /// Starts when all work queued so far is done.
    pub(crate) fn start(device: &Arc<CudaDevice>) -> Result<Self, DeviceError> {
        let timer =
            CudaTimer { device: device.clone(), start: Event::new(device)?, end: Event::new(device)? };
        timer.start.record()?;
        Ok(timer)
    }

    /// Microseconds until all work queued since is done.
    pub(crate) fn stop_us(&self) -> Result<f64, DeviceError> {
        self.end.record()?;
        let what = || format!("work timed on {}", self.device);
        self.device.counters.wait();
        // SAFETY: both events are live and recorded on one stream.
        doing(what, unsafe { result::event::synchronize(self.end.event) })?;
        // SAFETY: as above, and both are over.
        let ms = doing(what, unsafe { result::event::elapsed(self.start.event, self.end.event) })?;
        Ok(f64::from(ms) * 1e3)
    }
}
