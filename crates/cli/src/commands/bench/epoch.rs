use super::{Bench, Common, Stored, count};
use crate::{Failure, commands::train};
use clap::Args;
use foxhunt_bench::{EpochBench, EpochResult};
use foxhunt_train::{Config, SetOption, Size};

/// Time an epoch of training, collecting and learning, as `foxhunt train --weights plain` takes it; saves and reports are not part of it
///
/// It trades a random walk of minute bars at the costs of EUR/USD.
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt bench epoch
  foxhunt bench epoch --size study --dtype bf16")]
pub(crate) struct EpochArgs {
    /// Sizes: small, study or bench; small on a CPU and all on a GPU if left out
    #[arg(long, value_delimiter = ',', value_parser = train::size_offered(), hide_possible_values = true)]
    size: Vec<Size>,
    /// Population sizes
    #[arg(long, value_delimiter = ',', default_value = "1", allow_negative_numbers = true, value_parser = count(4096))]
    population: Vec<usize>,
    /// A key of the configuration, over the size's: learn.updates=64
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Bars of the market: 2^18 on a GPU and 2^15 on a CPU if left out
    #[arg(long, allow_negative_numbers = true, value_parser = count(1 << 24))]
    bars: Option<usize>,
    #[command(flatten)]
    stored: Stored,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &EpochArgs) -> Result<(), Failure> {
    let bench = Bench::open(&args.common)?;
    let gpu = bench.device.is_cuda();
    let sizes = match args.size.as_slice() {
        [] if gpu => &[Size::Small, Size::Study, Size::Bench][..],
        [] => &[Size::Small][..],
        given => given,
    };
    bench.header::<EpochResult>()?;
    for &dtype in &bench.dtypes {
        let machine = bench.machine(dtype)?;
        for &size in sizes {
            for population in &args.population {
                let pair = format!("population={population}");
                let weights = args.stored.in_dtype(dtype).to_string();
                let mut set = vec![
                    SetOption::new("--population", &pair, &population.to_string()),
                    SetOption::new("--weights", &format!("learn.weights={weights}"), &weights),
                ];
                set.extend(args.set.iter().map(|pair| SetOption::new("--set", pair, pair)));
                let timed = EpochBench {
                    size: name(size).to_owned(),
                    config: Config::resolve_options(None, Some(size), &set)?,
                    dtype,
                    bars: args.bars.unwrap_or(if gpu { 1 << 18 } else { 1 << 15 }),
                    repetitions: args.common.repetitions.unwrap_or(5),
                };
                bench.print(&timed.run(&bench.device, Some(&machine))?)?;
            }
        }
    }
    Ok(())
}

fn name(size: Size) -> &'static str {
    match size {
        Size::Small => "small",
        Size::Study => "study",
        Size::Bench => "bench",
    }
}
