use crate::{Device, DeviceError, Gemm, Kernel, KernelTree, cpu};
use foxhunt_core::DType;

/// A device address with the distance, in elements, between the parts of two members (0: shared by all). The mirror
/// of `Members<T>` in `platform.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct MemberPtr {
    /// Device address of member 0's part.
    pub addr: u64,
    /// Elements from one member's part to the next.
    pub stride: i64,
}

/// A stretch of an arena that a command reads or writes, for checks and for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// What the buffer is called.
    pub name: String,
    /// Device address.
    pub addr: u64,
    /// Length.
    pub bytes: usize,
}

/// One kernel launch, its arguments ready.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Which kernel.
    pub kernel: &'static Kernel,
    /// Which build of it.
    pub dtype: DType,
    /// Compile-time bounds for the GPU build, `LN_N = 256`; host builds have their own, larger ones.
    pub defines: Vec<(&'static str, u32)>,
    /// The bytes of the argument struct.
    pub args: Vec<u8>,
    /// Teams of work per member.
    pub teams: u32,
    /// Population members.
    pub members: u32,
    /// Buffers read.
    pub reads: Vec<Region>,
    /// Buffers written.
    pub writes: Vec<Region>,
}

/// One thing that a device does.
#[derive(Clone, Debug)]
pub enum Command {
    /// A kernel of the tree.
    Launch(Launch),
    /// A matrix product of the library.
    Gemm(Gemm),
}

/// Commands compiled for a device: modules loaded, algorithms chosen, graph captured.
pub struct Program {
    device: Device,
    body: Body,
}

enum Body {
    Cpu(cpu::CpuProgram),
}

impl Program {
    /// Compiles `commands` for `device`. The arenas that the commands point into must outlive the program.
    ///
    /// # Errors
    /// A launch whose argument size differs from the kernel's, a missing build, or what the GPU's compiler, loader
    /// or graph capture reports.
    pub fn compile(device: &Device, tree: &'static KernelTree, commands: Vec<Command>) -> Result<Self, DeviceError> {
        let _ = tree;
        let body = match device {
            Device::Cpu(cpu) => Body::Cpu(cpu::CpuProgram::compile(cpu, commands)?),
        };
        Ok(Program { device: device.clone(), body })
    }

    /// Runs the commands `times` times, in order, and returns when the work is queued (GPU) or done (CPU). On a GPU
    /// each time is one graph launch; see [`Device::synchronize`].
    ///
    /// # Errors
    /// What the GPU reports.
    pub fn run(&self, times: u32) -> Result<(), DeviceError> {
        match &self.body {
            Body::Cpu(p) => {
                for _ in 0..times {
                    p.run();
                }
                Ok(())
            }
        }
    }

    /// Runs the commands once without the graph: the reference that replays are tested against.
    ///
    /// # Errors
    /// What the GPU reports.
    pub fn run_eager(&self) -> Result<(), DeviceError> {
        match &self.body {
            Body::Cpu(p) => {
                p.run();
                Ok(())
            }
        }
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What was chosen for each matrix product, for the run's record.
    pub fn gemm_record(&self) -> Vec<String> {
        match &self.body {
            Body::Cpu(_) => Vec::new(),
        }
    }
}
