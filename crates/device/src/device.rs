use crate::{Arena, DeviceError, cpu::Cpu};
use foxhunt_core::DType;
use std::{fmt, str::FromStr, sync::Arc};

/// A machine that runs commands. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Device {
    /// The CPU of this machine.
    Cpu(Arc<Cpu>),
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
            Device::Cpu(_) => Ok(()),
        }
    }

    /// Whether this is a GPU.
    pub fn is_cuda(&self) -> bool {
        match self {
            Device::Cpu(_) => false,
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu(cpu) => write!(f, "{cpu}"),
        }
    }
}

/// How a training run stores numbers on `device`: BF16 on a CUDA GPU of compute capability 8.0 or newer, F32
/// otherwise.
pub fn training_dtype(device: &Device) -> DType {
    match device {
        Device::Cpu(_) => DType::F32,
    }
}
