use crate::{Device, DeviceError, Gemm, Kernel, KernelInfo, KernelTree, Traffic, cpu, cuda};
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

/// A tensor map of the argument struct (`TensorMap` in `hopper.cuh`): a matrix of BF16 per member, copied in blocks of
/// 64 rows and 64 columns with the 128-byte swizzle. What lies beyond it is read as 0, and not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Where it belongs in the struct, in bytes.
    pub at: usize,
    /// Device address of member 0's first element.
    pub addr: u64,
    /// Columns, rows, members.
    pub sizes: [u64; 3],
    /// Bytes from one row and from one member to the next.
    pub strides: [u64; 2],
}

/// Bytes of a tensor map in an argument struct.
pub const TENSOR_MAP_BYTES: usize = 128;

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
    /// Tensor maps that the GPU's driver writes into it.
    pub maps: Vec<TensorMap>,
    /// Whether it may run beside the launches before it that it has no buffer in common with (its `reads` and `writes` and
    /// theirs tell). What comes after it waits for it.
    pub beside: bool,
    /// Teams of work per member.
    pub teams: u32,
    /// Population members.
    pub members: u32,
    /// Buffers read.
    pub reads: Vec<Region>,
    /// Buffers written.
    pub writes: Vec<Region>,
    /// Buffers that the kernel touches before it waits for the launch ahead (`wait_for_previous` in `platform.cuh`), some of `reads`
    /// and `writes`.
    pub early: Vec<Region>,
}

impl Launch {
    /// A launcher and its kernel must agree about the argument struct.
    pub(crate) fn check_args(&self, info: &KernelInfo) -> Result<(), DeviceError> {
        if info.args_bytes as usize == self.args.len() {
            return Ok(());
        }
        Err(DeviceError::Arguments {
            kernel: self.kernel.name,
            dtype: self.dtype,
            expected: info.args_bytes,
            got: self.args.len(),
        })
    }

    /// A launch of nothing is a mistake of whoever built it, on every device.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        if self.teams > 0 && self.members > 0 {
            return Ok(());
        }
        Err(DeviceError::Launch {
            kernel: self.kernel.name,
            dtype: self.dtype,
            shape: format!("{} teams of {} members", self.teams, self.members),
            what: "nothing to do".into(),
            buffers: self.buffers(),
        })
    }

    /// Its buffers, for messages.
    pub(crate) fn buffers(&self) -> String {
        let list = |regions: &[Region]| {
            regions
                .iter()
                .map(|r| format!("{} ({} bytes at {:#x})", r.name, r.bytes, r.addr))
                .collect::<Vec<_>>()
                .join(", ")
        };
        format!("reads {}; writes {}", list(&self.reads), list(&self.writes))
    }
}

impl Region {
    fn overlaps(&self, other: &Region) -> bool {
        self.addr < other.addr + other.bytes as u64 && other.addr < self.addr + self.bytes as u64
    }
}

impl Launch {
    /// Whether it may be brought onto a GPU while `ahead`, right before it, has not ended: whatever else came before has.
    pub(crate) fn may_begin_during(&self, ahead: &Launch) -> bool {
        let meets = |r: &Region, others: &[Region]| others.iter().any(|other| r.overlaps(other));
        let clashes =
            |r: &Region| meets(r, &ahead.writes) || meets(r, &self.writes) && meets(r, &ahead.reads);
        !self.early.iter().any(clashes)
    }

    /// Whether one of the two writes what the other reads or writes.
    pub(crate) fn conflicts(&self, other: &Launch) -> bool {
        let touches = |writes: &[Region], launch: &Launch| {
            writes.iter().any(|w| launch.reads.iter().chain(&launch.writes).any(|r| w.overlaps(r)))
        };
        touches(&self.writes, other) || touches(&other.writes, self)
    }
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
    traffic: Vec<Traffic>,
}

enum Body {
    Cpu(cpu::CpuProgram),
    Cuda(cuda::CudaProgram),
}

impl Program {
    /// Compiles `commands` for `device`. The arenas that the commands point into must outlive the program.
    ///
    /// # Errors
    /// A launch whose argument size differs from the kernel's, a missing build, or what the GPU's compiler, loader
    /// or graph capture reports.
    pub fn compile(
        device: &Device,
        tree: &'static KernelTree,
        commands: Vec<Command>,
    ) -> Result<Self, DeviceError> {
        let traffic = commands.iter().map(Traffic::of).collect();
        let body = match device {
            Device::Cpu(cpu) => Body::Cpu(cpu::CpuProgram::compile(cpu, commands)?),
            Device::Cuda(gpu) => Body::Cuda(cuda::CudaProgram::compile(gpu, tree, commands)?),
        };
        Ok(Program { device: device.clone(), body, traffic })
    }

    /// Runs the commands `times` times, in order, and returns when the work is queued (GPU) or done (CPU). On a GPU
    /// many are replays of a graph of several runs, the rest of one of a single run; see [`Device::synchronize`].
    ///
    /// # Errors
    /// What the GPU reports.
    pub fn run(&self, times: u32) -> Result<(), DeviceError> {
        match &self.body {
            Body::Cpu(p) => p.run(times),
            Body::Cuda(p) => p.run(times),
        }
    }

    /// Runs the commands once without the graph: the reference that replays are tested against.
    ///
    /// # Errors
    /// What the GPU reports.
    pub fn run_eager(&self) -> Result<(), DeviceError> {
        match &self.body {
            Body::Cpu(p) => p.run(1),
            Body::Cuda(p) => p.run_eager(),
        }
    }

    /// Microseconds of one run, `repetitions` times, each the mean over `times` runs. On a GPU replays of the graph
    /// between two events, so the host's share is left out where `times` is large enough to keep the GPU busy.
    ///
    /// # Errors
    /// What the GPU reports.
    pub fn time_us(&self, times: u32, repetitions: u32) -> Result<Vec<f64>, DeviceError> {
        let times = times.max(1);
        (0..repetitions).map(|_| Ok(self.device.time(|| self.run(times))? / f64::from(times))).collect()
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What each command declares to read and write, in order.
    pub fn traffic(&self) -> &[Traffic] {
        &self.traffic
    }

    /// What was chosen for each matrix product, for the run's record.
    pub fn gemm_record(&self) -> Vec<String> {
        match &self.body {
            Body::Cpu(_) => Vec::new(),
            Body::Cuda(p) => p.gemm_record(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(addr: u64, bytes: usize) -> Region {
        Region { name: "x".into(), addr, bytes }
    }

    #[test]
    fn a_launch_begins_early_unless_what_it_reads_early_is_being_written() {
        static KERNEL: Kernel = Kernel { file: "x.cu", name: "x", host: &[] };
        let of = |reads: &[Region], early: &[Region], writes: &[Region]| Launch {
            kernel: &KERNEL,
            dtype: DType::F32,
            defines: Vec::new(),
            args: Vec::new(),
            maps: Vec::new(),
            beside: false,
            teams: 1,
            members: 1,
            reads: reads.to_vec(),
            writes: writes.to_vec(),
            early: early.to_vec(),
        };
        let (weights, gradient) = (region(4096, 64), region(8192, 64));
        let optimiser = of(&[weights.clone(), gradient.clone()], std::slice::from_ref(&weights), &[]);
        assert!(optimiser.may_begin_during(&of(&[], &[], std::slice::from_ref(&gradient))));
        assert!(optimiser.may_begin_during(&of(std::slice::from_ref(&weights), &[], &[])));
        assert!(!optimiser.may_begin_during(&of(&[], &[], &[gradient, region(4159, 1)])));
        // What it writes later, it may not write early where that is being read.
        let writes_early = of(&[], std::slice::from_ref(&weights), std::slice::from_ref(&weights));
        assert!(!writes_early.may_begin_during(&of(std::slice::from_ref(&weights), &[], &[])));
        // One that waits first reads nothing early.
        assert!(of(std::slice::from_ref(&weights), &[], &[]).may_begin_during(&of(&[], &[], &[weights])));
    }
}
