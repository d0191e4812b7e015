//! `foxhunt bench`: one file per workload, and what they have in common.

mod backtest;
mod collect;
mod epoch;
mod machine;
mod step;

use super::{number::whole, offered, open};
use crate::Failure;
use clap::{Args, Subcommand};
use foxhunt_bench::{Machine, MachineBench, Outcome, Setting, header, json, row};
use foxhunt_core::{DType, Weights};
use foxhunt_device::{Device, DeviceChoice, training_dtype};

/// Time the standard workloads
#[derive(Subcommand)]
#[command(
    after_help = "GB/s and TFLOP/s count what a workload has to move and to multiply, not what was seen to be: every
launch its buffers once, and the network's products. Their shares are of what `bench machine` measures,
which each command does first.

Examples:
  foxhunt bench step
  foxhunt bench machine --json"
)]
pub(crate) enum BenchCommand {
    Step(step::StepArgs),
    Collect(collect::CollectArgs),
    Epoch(epoch::EpochArgs),
    Backtest(backtest::BacktestArgs),
    Machine(machine::MachineArgs),
}

/// Options of every workload.
#[derive(Args)]
pub(super) struct Common {
    /// Storage types; the device's own if left out
    #[arg(long, value_delimiter = ',', value_parser = offered::offered(&["bf16", "f32"], |s: &str| s.parse::<DType>()), hide_possible_values = true)]
    dtype: Vec<DType>,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto", value_parser = offered::device(), hide_possible_values = true)]
    device: DeviceChoice,
    /// Let F32 matrix products use TF32, as PyTorch's fast setting does
    #[arg(long)]
    tf32: bool,
    /// Timings, of which the median is reported
    #[arg(long, allow_negative_numbers = true, value_parser = whole(1..=1_000_000_u32))]
    repetitions: Option<u32>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// How a workload that learns stores its weights.
#[derive(Args)]
pub(super) struct Stored {
    /// In bf16, weights and targets as one word each (plain), or as the pairs (paired) that `foxhunt train` has if nothing is
    /// said; in f32 they are plain
    #[arg(long, value_name = "plain|paired", default_value = "plain", hide_possible_values = true,
        value_parser = offered::offered(&["plain", "paired"], |s: &str| s.parse::<Weights>()))]
    weights: Weights,
}

impl Stored {
    fn in_dtype(&self, dtype: DType) -> Weights {
        if dtype == DType::Bf16 { self.weights } else { Weights::Plain }
    }
}

/// A device to time on, and the way to tell of it.
pub(super) struct Bench {
    device: Device,
    setting: Setting,
    dtypes: Vec<DType>,
    json: bool,
}

impl Bench {
    fn open(common: &Common) -> Result<Self, Failure> {
        let device = open(common.device)?;
        device.set_tf32(common.tf32);
        let dtypes =
            if common.dtype.is_empty() { vec![training_dtype(&device)] } else { common.dtype.clone() };
        if common.tf32 && !device.is_cuda() {
            note!("note: --tf32 changes nothing on a CPU");
        } else if common.tf32 && !dtypes.contains(&DType::F32) {
            note!("note: --tf32 changes nothing in bf16: add --dtype f32");
        }
        let setting = Setting::of(&device, common.tf32);
        if !common.json {
            say!("{device}{}", if setting.tf32 { ", F32 products in TF32" } else { "" })?;
        }
        Ok(Bench { device, setting, dtypes, json: common.json })
    }

    /// What the machine does at its best in `dtype`.
    fn machine(&self, dtype: DType) -> Result<Machine, Failure> {
        Ok(MachineBench::of(&self.device).run(&self.device, dtype)?.machine)
    }

    /// The titles of a table, before its first line.
    fn header<R: Outcome>(&self) -> Result<(), Failure> {
        if self.json { Ok(()) } else { say!("{}", header::<R>()) }
    }

    fn print<R: Outcome>(&self, result: &R) -> Result<(), Failure> {
        if self.json {
            return say!("{}", serde_json::to_string(&json(&self.setting, result))?);
        }
        say!("{}", row(result))
    }
}

fn count(most: usize) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync {
    whole(1..=most)
}

pub(crate) fn run(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::Step(args) => step::run(args),
        BenchCommand::Collect(args) => collect::run(args),
        BenchCommand::Epoch(args) => epoch::run(args),
        BenchCommand::Backtest(args) => backtest::run(args),
        BenchCommand::Machine(args) => machine::run(args),
    }
}
