use crate::{
    Arena, Counts, DeviceError, LibraryReport,
    counts::Counters,
    cpu::Cpu,
    cuda::{self, CudaDevice, CudaInfo, CudaTimer},
};
use foxhunt_core::DType;
use std::{fmt, str::FromStr, sync::Arc, time::Instant};

/// A machine that runs commands. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Device {
    /// The CPU of this machine.
    Cpu(Arc<Cpu>),
    /// An NVIDIA GPU.
    Cuda(Arc<CudaDevice>),
}

/// Memory of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryReport {
    /// Allocated through this [`Device`].
    pub allocated: usize,
    /// Free and in all, of which other processes have their share; unknown on a CPU.
    pub free_and_total: Option<(usize, usize)>,
}

/// What a user asks for with `--device`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first CUDA GPU that works, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// CUDA GPU n; an error where it can't be used.
    Cuda(usize),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda(0)),
            _ => match s.strip_prefix("cuda:").and_then(|n| n.parse().ok()) {
                Some(n) => Ok(DeviceChoice::Cuda(n)),
                None => Err(format!("unknown device '{s}': use auto, cpu, cuda or cuda:n")),
            },
        }
    }
}

impl Device {
    /// The CPU, with the fastest build that it can run.
    pub fn cpu() -> Self {
        Device::Cpu(Arc::new(Cpu::detect()))
    }

    /// The CPU with a given build, for tests that hold the builds together.
    pub fn cpu_with(isa: crate::Isa) -> Self {
        Device::Cpu(Arc::new(Cpu::with(isa)))
    }

    /// The CPU, with an emulator of a GPU for kernels that have no host build: a Hopper GPU to whoever asks, and slow.
    pub fn cpu_emulating(emulator: Arc<dyn crate::Emulator>) -> Self {
        Device::Cpu(Arc::new(Cpu::emulating(emulator)))
    }

    /// CUDA GPU `ordinal`. Each call opens it anew: clones share a stream, two openings don't.
    ///
    /// # Errors
    /// One line that says which library is missing, or what the driver says.
    pub fn cuda(ordinal: usize) -> Result<Self, DeviceError> {
        Ok(Device::Cuda(Arc::new(CudaDevice::open(ordinal)?)))
    }

    /// The device that a user asked for, and what they should be told: where `auto` finds no GPU, one line on why.
    ///
    /// # Errors
    /// A GPU that was asked for by number can't be used.
    pub fn choose(choice: DeviceChoice) -> Result<(Self, Vec<String>), DeviceError> {
        match choice {
            DeviceChoice::Cpu => Ok((Device::cpu(), Vec::new())),
            DeviceChoice::Cuda(ordinal) => Ok((Device::cuda(ordinal)?, Vec::new())),
            DeviceChoice::Auto => Ok(match CudaDevice::first() {
                Ok((gpu, notes)) => (Device::Cuda(Arc::new(gpu)), notes),
                Err(e) => (Device::cpu(), vec![format!("no GPU is used: {e}")]),
            }),
        }
    }

    /// The CUDA libraries, found or not. Needs no GPU.
    pub fn libraries() -> Vec<LibraryReport> {
        cuda::libraries()
    }

    /// What the GPU says of itself; nothing on a CPU.
    pub fn cuda_info(&self) -> Option<&CudaInfo> {
        match self {
            Device::Cpu(_) => None,
            Device::Cuda(gpu) => Some(gpu.info()),
        }
    }

    /// Memory allocated, free and in all.
    ///
    /// # Errors
    /// What the GPU reports.
    pub fn memory(&self) -> Result<MemoryReport, DeviceError> {
        Ok(match self {
            Device::Cpu(cpu) => MemoryReport { allocated: cpu.allocated(), free_and_total: None },
            Device::Cuda(gpu) => {
                let (allocated, free, total) = gpu.memory()?;
                MemoryReport { allocated, free_and_total: Some((free, total)) }
            }
        })
    }

    /// Allocations, transfers and waits since it was opened.
    pub fn counts(&self) -> Counts {
        self.counters().read()
    }

    pub(crate) fn counters(&self) -> &Counters {
        match self {
            Device::Cpu(cpu) => &cpu.counters,
            Device::Cuda(gpu) => gpu.counters(),
        }
    }

    /// Of what is allocated, the matrix library's workspace: taken with the first product of a program, and shared by
    /// all programs. 0 on a CPU.
    pub fn workspace_bytes(&self) -> usize {
        match self {
            Device::Cpu(_) => 0,
            Device::Cuda(gpu) => gpu.workspace_bytes(),
        }
    }

    /// Lets F32 products of programs compiled from now on use TF32: not the baseline, but what speed is compared
    /// with. Off at first. Changes nothing on a CPU or in BF16.
    pub fn set_tf32(&self, on: bool) {
        match self {
            Device::Cpu(_) => {}
            Device::Cuda(gpu) => gpu.set_tf32(on),
        }
    }

    /// Microseconds from when all work queued before is done until all that `work` queues is done: between events
    /// on a GPU, by the clock on a CPU.
    ///
    /// # Errors
    /// What `work` or the GPU reports.
    pub fn time(&self, work: impl FnOnce() -> Result<(), DeviceError>) -> Result<f64, DeviceError> {
        match self {
            Device::Cpu(_) => {
                let start = Instant::now();
                work()?;
                Ok(start.elapsed().as_secs_f64() * 1e6)
            }
            Device::Cuda(gpu) => {
                let timer = CudaTimer::start(gpu)?;
                work()?;
                timer.stop_us()
            }
        }
    }

    /// Zeroed memory on this device.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    pub fn allocate(&self, bytes: usize) -> Result<Arena, DeviceError> {
        Arena::new(self, bytes)
    }

    /// Waits for all queued work.
    ///
    /// # Errors
    /// What the GPU reports of that work.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        match self {
            Device::Cpu(cpu) => {
                cpu.counters.wait();
                Ok(())
            }
            Device::Cuda(gpu) => gpu.synchronize(),
        }
    }

    /// Whether this is a GPU.
    pub fn is_cuda(&self) -> bool {
        match self {
            Device::Cpu(_) => false,
            Device::Cuda(_) => true,
        }
    }

    /// Compute capability of a GPU (90 for 9.0), or of the one that a CPU emulates.
    pub fn capability(&self) -> Option<u32> {
        match self {
            Device::Cpu(cpu) => cpu.emulator.as_ref().map(|_| 90),
            Device::Cuda(gpu) => Some(gpu.info().capability),
        }
    }

    /// Whether F32 products may use TF32: see [`Device::set_tf32`].
    pub fn tf32(&self) -> bool {
        match self {
            Device::Cpu(_) => false,
            Device::Cuda(gpu) => gpu.tf32(),
        }
    }

    /// Whether it is a Hopper GPU, for which some steps have a kernel of their own, or emulates one.
    pub fn is_hopper(&self) -> bool {
        self.capability() == Some(90)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu(cpu) => write!(f, "{cpu}"),
            Device::Cuda(gpu) => write!(f, "{gpu}"),
        }
    }
}

/// How a training run stores numbers on `device`: BF16 on a CUDA GPU of compute capability 8.0 or newer, F32
/// otherwise.
pub fn training_dtype(device: &Device) -> DType {
    match device {
        Device::Cuda(gpu) if gpu.info().capability >= 80 => DType::Bf16,
        Device::Cpu(_) | Device::Cuda(_) => DType::F32,
    }
}
