//! The CPU as a device: host builds of the kernels, teams spread over threads, GEMM from the `gemm` crate.

use crate::{
    Command, DeviceError, Emulator, Gemm, HostBuild, Isa, KernelInfo, Launch, Operand, counts::Counters,
};
use foxhunt_core::{Bf16, DType};
use rayon::prelude::*;
use std::{
    ffi::c_void,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Teams below which a launch isn't worth a second thread (a team costs 0.1 to 10 µs, waking a thread about 5).
const TEAMS_PER_TASK: u32 = 16;
/// Multiplications below which a matrix product isn't worth a second thread (about 10 µs of them).
const PRODUCTS_PER_TASK: usize = 1 << 18;
/// Rows of a product that one task computes: fixed, so that the number of threads changes no bit.
const GEMM_ROWS: usize = 256;

/// This machine's processor.
#[derive(Debug)]
pub struct Cpu {
    isa: Isa,
    allocated: AtomicUsize,
    pub(crate) counters: Counters,
    pub(crate) emulator: Option<Arc<dyn Emulator>>,
}

impl Cpu {
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("movbe")
        {
            return Cpu::with(Isa::V3);
        }
        Cpu::with(Isa::Base)
    }

    pub(crate) fn with(isa: Isa) -> Self {
        Cpu { isa, allocated: AtomicUsize::new(0), counters: Counters::default(), emulator: None }
    }

    pub(crate) fn emulating(emulator: Arc<dyn Emulator>) -> Self {
        Cpu { emulator: Some(emulator), ..Cpu::detect() }
    }

    /// Counts bytes of arenas, taken or (negative) given back.
    pub(crate) fn count(&self, bytes: isize) {
        self.allocated.fetch_add(bytes as usize, Ordering::Relaxed);
    }

    pub(crate) fn allocated(&self) -> usize {
        self.allocated.load(Ordering::Relaxed)
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let build = match self.isa {
            Isa::Base => "baseline build",
            Isa::V3 => "AVX2 build",
            Isa::Reversed => "reversed test build",
        };
        write!(f, "CPU ({} threads, {build})", rayon::current_num_threads())
    }
}

enum Step {
    Launch { build: HostBuild, launch: Launch },
    Emulated { emulator: Arc<dyn Emulator>, launch: Launch },
    Gemm(Gemm),
}

/// A recorded list of commands.
pub(crate) struct CpuProgram {
    steps: Vec<Step>,
}

impl CpuProgram {
    pub(crate) fn compile(cpu: &Cpu, commands: Vec<Command>) -> Result<Self, DeviceError> {
        let steps = commands
            .into_iter()
            .map(|command| match command {
                Command::Launch(launch) if launch.kernel.host.is_empty() => {
                    let emulator =
                        cpu.emulator.clone().ok_or(DeviceError::GpuOnly { kernel: launch.kernel.name })?;
                    let info = emulator.info(&launch).map_err(|what| refused(&launch, what))?;
                    check(&launch, &info)?;
                    Ok(Step::Emulated { emulator, launch })
                }
                Command::Launch(launch) => {
                    let build = *launch
                        .kernel
                        .host
                        .iter()
                        .find(|b| b.dtype == launch.dtype && b.isa == cpu.isa)
                        .ok_or(DeviceError::NoHostBuild {
                            kernel: launch.kernel.name,
                            dtype: launch.dtype,
                        })?;
                    check(&launch, &build.info())?;
                    Ok(Step::Launch { build, launch })
                }
                Command::Gemm(gemm) => {
                    gemm.check()?;
                    Ok(Step::Gemm(gemm))
                }
            })
            .collect::<Result<_, _>>()?;
        Ok(CpuProgram { steps })
    }

    /// Runs it `times` times, on a thread of the pool: from any other, every parallel step would be handed over and
    /// waited for with two switches of threads, which cost small programs half of their time.
    pub(crate) fn run(&self, times: u32) -> Result<(), DeviceError> {
        rayon::scope(|_| (0..times).try_for_each(|_| self.run_once()))
    }

    fn run_once(&self) -> Result<(), DeviceError> {
        for step in &self.steps {
            match step {
                Step::Launch { build, launch } => run_launch(build, launch),
                Step::Emulated { emulator, launch } => {
                    emulator.run(launch).map_err(|what| refused(launch, what))?;
                }
                Step::Gemm(gemm) => run_gemm(gemm),
            }
        }
        Ok(())
    }
}

fn check(launch: &Launch, info: &KernelInfo) -> Result<(), DeviceError> {
    launch.check_args(info)?;
    launch.check()
}

fn refused(launch: &Launch, what: String) -> DeviceError {
    DeviceError::Launch {
        kernel: launch.kernel.name,
        dtype: launch.dtype,
        shape: format!("{} blocks of {} members, emulated", launch.teams, launch.members),
        what,
        buffers: launch.buffers(),
    }
}

fn run_launch(build: &HostBuild, launch: &Launch) {
    let args = launch.args.as_ptr() as usize;
    let tasks = launch.teams.div_ceil(TEAMS_PER_TASK).min(4 * rayon::current_num_threads() as u32).max(1);
    let run = |member: u32, begin: u32, end: u32| {
        // SAFETY: the launcher checked the buffers that the arguments point to, and their size against the kernel's;
        // the bytes live as long as the launch. Teams of one launch write disjoint elements.
        unsafe { (build.entry)(args as *const c_void, member, begin, end, launch.teams) };
    };
    if launch.members * launch.teams <= TEAMS_PER_TASK {
        return (0..launch.members).for_each(|member| run(member, 0, launch.teams));
    }
    (0..launch.members * tasks).into_par_iter().for_each(|i| {
        let (member, task) = (i / tasks, i % tasks);
        let edge = |t: u32| (u64::from(launch.teams) * u64::from(t) / u64::from(tasks)) as u32;
        run(member, edge(task), edge(task + 1));
    });
}

fn run_gemm(g: &Gemm) {
    let blocks = g.m.div_ceil(GEMM_ROWS);
    let task = |i: usize| {
        let (member, first) = (i / blocks, i % blocks * GEMM_ROWS);
        let rows = GEMM_ROWS.min(g.m - first);
        match g.dtype {
            DType::F32 => gemm_f32_block(g, member, first, rows),
            DType::Bf16 => gemm_bf16_block(g, member, first, rows),
        }
    };
    if g.members * blocks == 1 || g.members * g.m * g.n * g.k <= PRODUCTS_PER_TASK {
        return (0..g.members * blocks).for_each(task);
    }
    (0..g.members * blocks).into_par_iter().for_each(task);
}

/// Address of element (row, 0) of `op(x)`, and its strides (row, column).
fn element(x: &Operand, bytes: usize, member: usize, row: usize) -> (usize, isize, isize) {
    let (rs, cs) = if x.transposed { (1, x.ld as isize) } else { (x.ld as isize, 1) };
    let skip = member * x.stride + row * rs as usize;
    (x.region.addr as usize + skip * bytes, rs, cs)
}

fn gemm_f32_block(g: &Gemm, member: usize, first: usize, rows: usize) {
    let (c, c_rs, c_cs) = element(&g.c, 4, member, first);
    let (a, a_rs, a_cs) = element(&g.a, 4, member, first);
    let (b, b_rs, b_cs) = element(&g.b, 4, member, 0);
    // SAFETY: `Gemm::check` held the shape against the buffers; blocks write disjoint rows of C.
    unsafe {
        product(
            rows,
            g.n,
            g.k,
            g.alpha,
            (c as *mut f32, c_rs, c_cs),
            (a as *const f32, a_rs, a_cs),
            (b as *const f32, b_rs, b_cs),
        )
    }
}

/// Widens the operands of one block, multiplies in F32 and rounds the result once, as the GPU's library does.
fn gemm_bf16_block(g: &Gemm, member: usize, first: usize, rows: usize) {
    let widen = |x: &Operand, row: usize, rows: usize, cols: usize| -> Vec<f32> {
        let (addr, rs, cs) = element(x, 2, member, row);
        let mut out = Vec::with_capacity(rows * cols);
        for r in 0..rows as isize {
            for c in 0..cols as isize {
                // SAFETY: `Gemm::check` held the shape against the buffer.
                let bits = unsafe { *(addr as *const u16).offset(r * rs + c * cs) };
                out.push(Bf16::from_bits(bits).to_f32());
            }
        }
        out
    };
    let a = widen(&g.a, first, rows, g.k);
    let b = widen(&g.b, 0, g.k, g.n);
    let mut c = vec![0_f32; rows * g.n];
    let (n, k) = (g.n as isize, g.k as isize);
    // SAFETY: the three vectors have the sizes that the strides span.
    unsafe {
        product(rows, g.n, g.k, g.alpha, (c.as_mut_ptr(), n, 1), (a.as_ptr(), k, 1), (b.as_ptr(), n, 1))
    }
    let (addr, rs, _) = element(&g.c, 2, member, first);
    for (r, row) in c.chunks_exact(g.n).enumerate() {
        for (j, x) in row.iter().enumerate() {
            // SAFETY: as above; blocks write disjoint rows of C.
            unsafe {
                *(addr as *mut u16).offset(r as isize * rs + j as isize) = Bf16::from_f32(*x).to_bits()
            };
        }
    }
}

/// `C = alpha A B` on one thread; operands are (pointer, row stride, column stride).
///
/// # Safety
/// The operands must span the memory that the shape says, and C must not overlap A or B.
unsafe fn product(
    m: usize,
    n: usize,
    k: usize,
    alpha: f32,
    c: (*mut f32, isize, isize),
    a: (*const f32, isize, isize),
    b: (*const f32, isize, isize),
) {
    // SAFETY: the caller's promise.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.0,
            c.2,
            c.1,
            false,
            a.0,
            a.2,
            a.1,
            b.0,
            b.2,
            b.1,
            0.0,
            alpha,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
