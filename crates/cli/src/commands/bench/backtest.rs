use super::{Bench, Common, count};
use crate::Failure;
use clap::Args;
use foxhunt_bench::{BacktestBench, BacktestResult, Network};

/// Time the greedy policies of a population through the same bars, each with one account and a ledger on the device
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt bench backtest
  foxhunt bench backtest --members 1,32 --json")]
pub(crate) struct BacktestArgs {
    /// Members, each with a policy of its own
    #[arg(long, value_delimiter = ',', default_value = "1,32,256", allow_negative_numbers = true, value_parser = count(4096))]
    members: Vec<usize>,
    /// Bars that each decides at: 4096 on a GPU and 512 on a CPU if left out
    #[arg(long, allow_negative_numbers = true, value_parser = count(1 << 20))]
    bars: Option<usize>,
    /// Whose policy: peers, bench or small
    #[arg(long, value_delimiter = ',', default_value = "bench")]
    network: Vec<Network>,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &BacktestArgs) -> Result<(), Failure> {
    let bench = Bench::open(&args.common)?;
    let gpu = bench.device.is_cuda();
    bench.header::<BacktestResult>()?;
    for &dtype in &bench.dtypes {
        let machine = bench.machine(dtype)?;
        for &network in &args.network {
            for &members in &args.members {
                let size = BacktestBench {
                    members,
                    bars: args.bars.unwrap_or(if gpu { 4096 } else { 512 }),
                    dtype,
                    network,
                    repetitions: args.common.repetitions.unwrap_or(5),
                };
                bench.print(&size.run(&bench.device, Some(&machine))?)?;
            }
        }
    }
    Ok(())
}
