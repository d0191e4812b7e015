use crate::{Device, DeviceError, cuda::CudaMemory};
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Alignment of an arena and of every buffer in it, in bytes (what cuBLASLt's workspace and 16-byte vectors need).
pub const ARENA_ALIGN: usize = 256;

/// One allocation of device memory, zeroed, from which a plan takes all its buffers.
pub struct Arena {
    device: Device,
    addr: u64,
    bytes: usize,
    /// The allocation, where it is a GPU's.
    cuda: Option<CudaMemory>,
}

impl Arena {
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Self, DeviceError> {
        let bytes = bytes.max(1).next_multiple_of(ARENA_ALIGN);
        let (addr, cuda) = match device {
            Device::Cpu(cpu) => {
                // An allocator that promises more than there is would have the process killed later, without a word.
                if let Some(reason) = Room::now().lacks(bytes, cpu.allocated()) {
                    return Err(DeviceError::OutOfMemory { bytes, reason });
                }
                let layout = host_layout(bytes)?;
                // SAFETY: the layout has a size above zero.
                let p = unsafe { alloc_zeroed(layout) };
                if p.is_null() {
                    return Err(DeviceError::OutOfMemory {
                        bytes,
                        reason: "the host allocator refused".into(),
                    });
                }
                cpu.count(bytes as isize);
                cpu.counters.allocation();
                (p as u64, None)
            }
            Device::Cuda(gpu) => {
                let memory = gpu.allocate(bytes)?;
                (memory.addr, Some(memory))
            }
        };
        Ok(Arena { device: device.clone(), addr, bytes, cuda })
    }

    /// Device address of the first byte.
    pub fn addr(&self) -> u64 {
        self.addr
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where it lies.
    pub fn device(&self) -> &Device {
        &self.device
    }

    fn check(&self, offset: usize, bytes: usize) -> Result<(), DeviceError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(()),
            _ => Err(DeviceError::OutOfBounds { offset, bytes, size: self.bytes }),
        }
    }

    /// Copies `data` to the device at `offset` bytes, after all queued work.
    ///
    /// # Errors
    /// Out of bounds, or what the GPU reports.
    pub fn write<T: bytemuck::NoUninit>(&self, offset: usize, data: &[T]) -> Result<(), DeviceError> {
        let data: &[u8] = bytemuck::cast_slice(data);
        self.check(offset, data.len())?;
        self.device.counters().transfer();
        match &self.device {
            Device::Cpu(_) => {
                // SAFETY: the range was checked; commands run only through `Program::run`, which has returned.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        data.as_ptr(),
                        (self.addr as usize + offset) as *mut u8,
                        data.len(),
                    );
                }
                Ok(())
            }
            Device::Cuda(gpu) => gpu.write(self.addr + offset as u64, data),
        }
    }

    /// Copies from the device at `offset` bytes, after all queued work.
    ///
    /// # Errors
    /// Out of bounds, or what the GPU reports.
    pub fn read<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        offset: usize,
        len: usize,
    ) -> Result<Vec<T>, DeviceError> {
        let mut out = vec![T::zeroed(); len];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut out);
        self.check(offset, bytes.len())?;
        self.device.counters().transfer();
        match &self.device {
            Device::Cpu(_) => {
                // SAFETY: as in `write`.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        (self.addr as usize + offset) as *const u8,
                        bytes.as_mut_ptr(),
                        bytes.len(),
                    );
                }
            }
            Device::Cuda(gpu) => gpu.read(self.addr + offset as u64, bytes)?,
        }
        Ok(out)
    }

    /// Sets `bytes` bytes at `offset` to `value`, after all queued work.
    ///
    /// # Errors
    /// Out of bounds, or what the GPU reports.
    pub fn fill(&self, offset: usize, bytes: usize, value: u8) -> Result<(), DeviceError> {
        self.check(offset, bytes)?;
        self.device.counters().transfer();
        match &self.device {
            Device::Cpu(_) => {
                // SAFETY: as in `write`.
                unsafe { std::ptr::write_bytes((self.addr as usize + offset) as *mut u8, value, bytes) };
                Ok(())
            }
            Device::Cuda(gpu) => gpu.fill(self.addr + offset as u64, bytes, value),
        }
    }
}

/// Memory for arenas on a host, in bytes, where the system says.
struct Room {
    /// All that the machine has.
    all: Option<usize>,
    /// What other processes and this one leave.
    free: Option<usize>,
}

impl Room {
    fn now() -> Self {
        Self {
            all: machine_memory(),
            free: std::fs::read_to_string("/proc/meminfo").ok().and_then(|t| available(&t)),
        }
    }

    /// Why there is no room for so many bytes more, if there is none. `taken` are those of arenas that are there: pages of them that
    /// nothing was written to yet still count as free.
    fn lacks(&self, bytes: usize, taken: usize) -> Option<String> {
        let all = self.all.filter(|all| taken.saturating_add(bytes) > *all);
        if let Some(all) = all {
            return Some(format!("this machine has {all} bytes, of which this process has taken {taken}"));
        }
        let free = self.free.filter(|free| bytes > *free)?;
        Some(format!("this machine has {free} bytes free"))
    }
}

/// `MemAvailable` of Linux's `/proc/meminfo`: what can be had without swapping.
fn available(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

/// Bytes of memory that this machine has, where the system says.
fn machine_memory() -> Option<usize> {
    #[cfg(unix)]
    {
        // SAFETY: sysconf reads a number of the system and has no preconditions.
        let ask = |name| usize::try_from(unsafe { libc::sysconf(name) }).ok();
        ask(libc::_SC_PHYS_PAGES)?.checked_mul(ask(libc::_SC_PAGESIZE)?)
    }
    #[cfg(not(unix))]
    None
}

fn host_layout(bytes: usize) -> Result<Layout, DeviceError> {
    Layout::from_size_align(bytes, ARENA_ALIGN)
        .map_err(|e| DeviceError::OutOfMemory { bytes, reason: e.to_string() })
}

impl Drop for Arena {
    fn drop(&mut self) {
        match &self.device {
            Device::Cpu(cpu) => {
                if let Ok(layout) = host_layout(self.bytes) {
                    // SAFETY: allocated in `new` with the same layout.
                    unsafe { dealloc(self.addr as usize as *mut u8, layout) };
                    cpu.count(-(self.bytes as isize));
                }
            }
            Device::Cuda(gpu) => {
                if let Some(memory) = &self.cuda {
                    gpu.free(memory);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_taken_is_no_room() {
        let room = Room { all: Some(1_000), free: Some(300) };
        assert_eq!(room.lacks(300, 600), None);
        assert_eq!(room.lacks(301, 0).as_deref(), Some("this machine has 300 bytes free"));
        let taken = room.lacks(200, 900);
        assert_eq!(
            taken.as_deref(),
            Some("this machine has 1000 bytes, of which this process has taken 900")
        );
        assert_eq!(Room { all: None, free: None }.lacks(usize::MAX, usize::MAX), None);
        let text = "MemTotal:       24000000 kB\nMemFree:          100000 kB\nMemAvailable:   22000000 kB\n";
        assert_eq!((available(text), available("MemTotal: 1 kB")), (Some(22_000_000 * 1_024), None));
        if cfg!(target_os = "linux") {
            let now = Room::now();
            assert!(now.free.is_some() && now.free <= now.all, "{:?} of {:?}", now.free, now.all);
        }
    }
}
