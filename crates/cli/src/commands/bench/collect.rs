use super::{Bench, Common, count};
use crate::{Failure, commands::number::whole};
use clap::Args;
use foxhunt_bench::{CollectBench, CollectResult, Network};

/// Time a decision of many environments: policy forward, choice of actions, all trade physics, store of the transition
///
/// They trade a random walk of minute bars at the costs of EUR/USD, long enough that environments go different ways.
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt bench collect
  foxhunt bench collect --envs 64 --json")]
pub(crate) struct CollectArgs {
    /// Environments of a member: 8192,65536 on a GPU and 64,1024 on a CPU if left out
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true, value_parser = count(1 << 20))]
    envs: Vec<usize>,
    /// Population sizes
    #[arg(long, value_delimiter = ',', default_value = "1", allow_negative_numbers = true, value_parser = count(4096))]
    population: Vec<usize>,
    /// Whose policy: peers (128 inputs, trunk 256-256, as in bench/peers), bench or small
    #[arg(long, value_delimiter = ',', default_value = "peers,bench")]
    network: Vec<Network>,
    /// Bars of the market: 2^20 on a GPU and 2^15 on a CPU if left out
    #[arg(long, allow_negative_numbers = true, value_parser = count(1 << 24))]
    bars: Option<usize>,
    /// Decisions of one timing: 64 on a GPU and 8 on a CPU if left out. Timings: 15 and 5
    #[arg(long, allow_negative_numbers = true, value_parser = whole(1..=4096_u32))]
    steps: Option<u32>,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &CollectArgs) -> Result<(), Failure> {
    let bench = Bench::open(&args.common)?;
    let gpu = bench.device.is_cuda();
    let all = match args.envs.as_slice() {
        [] if gpu => &[8192, 65_536][..],
        [] => &[64, 1024][..],
        given => given,
    };
    bench.header::<CollectResult>()?;
    for &dtype in &bench.dtypes {
        let machine = bench.machine(dtype)?;
        for &network in &args.network {
            for &population in &args.population {
                for &envs in all {
                    let size = CollectBench {
                        envs,
                        population,
                        dtype,
                        network,
                        bars: args.bars.unwrap_or(if gpu { 1 << 20 } else { 1 << 15 }),
                        steps: args.steps.unwrap_or(if gpu { 64 } else { 8 }),
                        repetitions: args.common.repetitions.unwrap_or(if gpu { 15 } else { 5 }),
                    };
                    bench.print(&size.run(&bench.device, Some(&machine))?)?;
                }
            }
        }
    }
    Ok(())
}
