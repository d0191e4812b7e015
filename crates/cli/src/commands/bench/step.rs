use super::{Bench, Common, Stored, count};
use crate::{Failure, commands::number::whole};
use clap::Args;
use foxhunt_bench::{Soak, SoakResult, StepBench, StepMemory, StepResult, step_shape};
use foxhunt_core::DType;
use foxhunt_kernels::fused::DqnKernels;

/// Time one training step: sample, three forward passes, C51 loss, backward, clip, AdamW, EMA target
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt bench step
  foxhunt bench step --batch 512,4096 --population 1,8 --dtype bf16,f32
  foxhunt bench step --weights paired --dtype bf16
  foxhunt bench step --memory --json")]
pub(crate) struct StepArgs {
    /// Batch sizes
    #[arg(long, value_delimiter = ',', default_value = "512,4096,16384", allow_negative_numbers = true, value_parser = count(1 << 20))]
    batch: Vec<usize>,
    /// Population sizes
    #[arg(long, value_delimiter = ',', default_value = "1", allow_negative_numbers = true, value_parser = count(4096))]
    population: Vec<usize>,
    /// Rows of the replay: 2^20 on a GPU and 2^16 on a CPU if left out
    #[arg(long, allow_negative_numbers = true, value_parser = whole(2..=1_usize << 26))]
    rows: Option<usize>,
    /// Steps of one timing: 20 on a GPU and 3 on a CPU if left out. Timings: 30 and 5
    #[arg(long, allow_negative_numbers = true, value_parser = whole(1..=1_000_000_u32))]
    steps: Option<u32>,
    /// Time the plan's span of operations where a fused step exists
    #[arg(long)]
    span: bool,
    /// Time the fused step for Ampere and later GPUs, also where another is faster
    #[arg(long, conflicts_with = "span")]
    mma: bool,
    /// Show device memory by purpose instead of times
    #[arg(long, conflicts_with_all = ["steps", "repetitions"])]
    memory: bool,
    /// Take so many steps instead, and fail if one allocates, copies, waits for the device or leaves memory behind
    #[arg(long, value_name = "STEPS", conflicts_with_all = ["steps", "repetitions", "memory"], allow_negative_numbers = true, value_parser = whole(1..=1_000_000_000_u32))]
    soak: Option<u32>,
    #[command(flatten)]
    stored: Stored,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &StepArgs) -> Result<(), Failure> {
    let bench = Bench::open(&args.common)?;
    if args.mma {
        check_mma(&bench)?;
    }
    if args.soak.is_some() {
        bench.header::<SoakResult>()?;
    } else if !args.memory {
        bench.header::<StepResult>()?;
    }
    for &dtype in &bench.dtypes {
        let timed = !args.memory && args.soak.is_none();
        let machine = if timed { Some(bench.machine(dtype)?) } else { None };
        for &population in &args.population {
            for &batch in &args.batch {
                let size = args.size(&bench, dtype, (population, batch));
                if args.memory {
                    print_memory(&bench, &size.memory(&bench.device)?)?;
                } else if let Some(steps) = args.soak {
                    bench.print(&size.soak(&bench.device, Soak { steps })?)?;
                } else {
                    bench.print(&size.run(&bench.device, machine.as_ref())?)?;
                }
            }
        }
    }
    Ok(())
}

/// Refuses what the fused step of `--mma` does not run on: a time of the span under its name would mislead.
fn check_mma(bench: &Bench) -> Result<(), Failure> {
    let (device, shape) = (&bench.device, step_shape());
    let Some(dtype) = bench.dtypes.iter().find(|d| !DqnKernels::Mma.run_on(device, **d, &shape)) else {
        return Ok(());
    };
    Err(Failure::Refused(match dtype {
        DType::F32 if DqnKernels::Mma.exist_on(device) => {
            "--mma in f32 needs products in TF32: add --tf32, or leave --mma out".into()
        }
        _ => format!(
            "--mma needs an NVIDIA GPU of Ampere or later, and the device is {device}: name one with --device, or leave --mma out"
        ),
    }))
}

impl StepArgs {
    fn size(&self, bench: &Bench, dtype: DType, (population, batch): (usize, usize)) -> StepBench {
        let (device, shape) = (&bench.device, step_shape());
        let gpu = device.is_cuda();
        let kernels = match (self.span, self.mma) {
            (true, _) => None,
            (_, true) => Some(DqnKernels::Mma),
            _ => DqnKernels::of(device, dtype, &shape),
        };
        StepBench {
            kernels,
            batch,
            population,
            dtype,
            weights: self.stored.weights,
            replay_rows: self.rows.unwrap_or(if gpu { 1 << 20 } else { 1 << 16 }),
            steps: self.steps.unwrap_or(if gpu { 20 } else { 3 }),
            repetitions: self.common.repetitions.unwrap_or(if gpu { 30 } else { 5 }),
        }
    }
}

fn print_memory(bench: &Bench, r: &StepMemory) -> Result<(), Failure> {
    if bench.json {
        return say!("{}", serde_json::to_string(r)?);
    }
    say!(
        "\n{}, {} weights, B {}, P {}, {} rows of replay\n{}",
        r.dtype,
        r.weights,
        r.batch,
        r.population,
        r.replay_rows,
        r.memory.to_string().trim_end()
    )
}
