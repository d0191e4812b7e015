use super::{Bench, Common, count};
use crate::Failure;
use clap::Args;
use foxhunt_bench::{MachineBench, MachineResult};

/// Measure what the machine does at its best: a copy by one of our kernels, and the largest product of the library
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt bench machine
  foxhunt bench machine --device cpu --copy 64 --matrix 512")]
pub(crate) struct MachineArgs {
    /// MiB of the buffer that is copied: 1024 on a GPU and 256 on a CPU if left out
    #[arg(long, allow_negative_numbers = true, value_parser = count(1 << 16))]
    copy: Option<usize>,
    /// Rows, columns and inner dimension of the product: 8192 on a GPU and 1024 on a CPU if left out
    #[arg(long, allow_negative_numbers = true, value_parser = count(1 << 15))]
    matrix: Option<usize>,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &MachineArgs) -> Result<(), Failure> {
    let bench = Bench::open(&args.common)?;
    let mut size = MachineBench::of(&bench.device);
    size.copy_bytes = args.copy.map_or(size.copy_bytes, |mib| mib << 20);
    size.matrix = args.matrix.unwrap_or(size.matrix);
    size.repetitions = args.common.repetitions.unwrap_or(size.repetitions);
    bench.header::<MachineResult>()?;
    for &dtype in &bench.dtypes {
        bench.print(&size.run(&bench.device, dtype)?)?;
    }
    Ok(())
}
