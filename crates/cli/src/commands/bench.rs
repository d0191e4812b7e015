use super::open;
use crate::Failure;
use clap::{Args, Subcommand, builder::RangedU64ValueParser, value_parser};
use foxhunt_bench::{StepBench, StepMemory, StepResult};
use foxhunt_core::DType;
use foxhunt_device::{DeviceChoice, training_dtype};

/// Time the standard workloads
#[derive(Subcommand)]
pub(crate) enum BenchCommand {
    Step(StepArgs),
}

/// Time one training step: sample, three forward passes, C51 loss, backward, clip, AdamW, EMA target
#[derive(Args)]
pub(crate) struct StepArgs {
    /// Batch sizes
    #[arg(long, value_delimiter = ',', default_value = "512,4096,16384", value_parser = count(1 << 20))]
    batch: Vec<usize>,
    /// Population sizes
    #[arg(long, value_delimiter = ',', default_value = "1", value_parser = count(4096))]
    population: Vec<usize>,
    /// Storage types; the device's own if left out
    #[arg(long, value_delimiter = ',')]
    dtype: Vec<DType>,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Rows of the replay: 2^20 on a GPU and 2^16 on a CPU if left out
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(2..=1 << 26))]
    rows: Option<usize>,
    /// Steps of one timing: 20 on a GPU and 3 on a CPU if left out
    #[arg(long, value_parser = value_parser!(u32).range(1..=1_000_000))]
    steps: Option<u32>,
    /// Timings, of which the median is reported: 30 on a GPU and 5 on a CPU if left out
    #[arg(long, value_parser = value_parser!(u32).range(1..=1_000_000))]
    repetitions: Option<u32>,
    /// Let F32 matrix products use TF32, as PyTorch's fast setting does
    #[arg(long)]
    tf32: bool,
    /// Time the plan's span of operations where a fused step exists
    #[arg(long)]
    span: bool,
    /// Show device memory by purpose instead of times
    #[arg(long, conflicts_with_all = ["steps", "repetitions"])]
    memory: bool,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

fn count(most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=most)
}

pub(crate) fn run(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::Step(args) => step(args),
    }
}

fn step(args: &StepArgs) -> Result<(), Failure> {
    let device = open(args.device)?;
    device.set_tf32(args.tf32);
    let gpu = device.is_cuda();
    let dtypes = if args.dtype.is_empty() { vec![training_dtype(&device)] } else { args.dtype.clone() };
    if !args.json {
        say!("{device}")?;
    }
    if !args.json && !args.memory {
        say!(
            "{:<5} {:>6} {:>3} {:>10} {:>10} {:>17} {:>8} {:>9} {:>16}",
            "dtype",
            "B",
            "P",
            "us/step",
            "us/member",
            "range",
            "TFLOP/s",
            "arena MiB",
            "loss"
        )?;
    }
    for dtype in dtypes {
        for &population in &args.population {
            for &batch in &args.batch {
                let bench = StepBench {
                    fused: !args.span && device.is_hopper() && dtype == DType::Bf16,
                    batch,
                    population,
                    dtype,
                    replay_rows: args.rows.unwrap_or(if gpu { 1 << 20 } else { 1 << 16 }),
                    steps: args.steps.unwrap_or(if gpu { 20 } else { 3 }),
                    repetitions: args.repetitions.unwrap_or(if gpu { 30 } else { 5 }),
                };
                if args.memory {
                    print_memory(&bench.memory(&device)?, args.json)?;
                } else {
                    print(&bench.run(&device)?, args.json)?;
                }
            }
        }
    }
    Ok(())
}

fn print_memory(r: &StepMemory, json: bool) -> Result<(), Failure> {
    if json {
        return say!("{}", serde_json::to_string(r)?);
    }
    say!(
        "\n{}, B {}, P {}, {} rows of replay\n{}",
        r.dtype,
        r.batch,
        r.population,
        r.replay_rows,
        r.memory.to_string().trim_end()
    )
}

fn print(r: &StepResult, json: bool) -> Result<(), Failure> {
    if json {
        return say!("{}", serde_json::to_string(r)?);
    }
    say!(
        "{:<5} {:>6} {:>3} {:>10.1} {:>10.1} {:>17} {:>8.2} {:>9.0} {:>16}",
        r.dtype,
        r.batch,
        r.population,
        r.us,
        r.us_per_member,
        format!("{:.1}..{:.1}", r.us_range.0, r.us_range.1),
        r.tflops,
        r.arena_bytes as f64 / f64::from(1 << 20),
        format!("{:.4} -> {:.4}", r.loss.0, r.loss.1)
    )
}
