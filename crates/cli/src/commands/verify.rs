use super::{
    number, offered, open,
    source::{DataOptions, load_bars, load_own_bars, reading},
    train::{DTypeChoice, dtype_offered},
    trained::TrainedRun,
};
use crate::Failure;
use clap::{Args, Subcommand};
use foxhunt_checkpoint::apply;
use foxhunt_core::DType;
use foxhunt_data::Bars;
use foxhunt_device::{Device, DeviceChoice};
use foxhunt_known::markets;
use foxhunt_train::{ACCOUNT_FEATURES, Config, DataConfig, Size};
use foxhunt_verify::{Agents, known, leak, learn, money};
use std::{fmt::Display, path::PathBuf};

/// Check that a market can't be cheated, that agents learn on it, and that no money appears
#[derive(Subcommand)]
#[command(after_help = "Examples:
  foxhunt verify leak runs/first
  foxhunt verify learn
  foxhunt verify money
  foxhunt verify known --market drift")]
pub(crate) enum VerifyCommand {
    /// Change the bars that come later: nothing earlier may change by a bit (without a run, of all features there are)
    #[command(after_help = "Examples:
  foxhunt verify leak
  foxhunt verify leak runs/first
  foxhunt verify leak --data EURUSD_2018.csv")]
    Leak(VerifyArgs),
    /// Tell agents the next bar, and others noise: the first must profit, the second must not
    #[command(after_help = "Examples:
  foxhunt verify learn
  foxhunt verify learn runs/first --data EURUSD_2018.csv
  foxhunt verify learn --data bars.csv --instrument US:NVDA --time-zone UTC")]
    Learn(VerifyArgs),
    /// Play at random and keep the books twice
    #[command(after_help = "Examples:
  foxhunt verify money
  foxhunt verify money --data XBTUSD_60.csv.gz
  foxhunt verify money --data bars.csv --instrument BTC/USD --columns time=Date,close=Last")]
    Money(VerifyArgs),
    /// Train on markets whose optimal policy is known: members must come close to it
    #[command(after_help = "Examples:
  foxhunt verify known --market drift
  foxhunt verify known --dtype bf16")]
    Known(KnownArgs),
}

#[derive(Args)]
pub(crate) struct KnownArgs {
    /// One market; all of them if left out
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(markets().iter().map(|k| k.name)))]
    market: Option<String>,
    /// Epochs of each training, instead of the check's own
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::whole(1..=1_000_000_u32))]
    epochs: Option<u32>,
    /// Seed of paths and members
    #[arg(long, default_value = "1", allow_negative_numbers = true, value_parser = number::seed)]
    seed: u64,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto", value_parser = offered::device(), hide_possible_values = true)]
    device: DeviceChoice,
    /// auto (bf16 on a GPU and f32 on a CPU), bf16 or f32
    #[arg(long, default_value = "auto", value_parser = dtype_offered(), hide_possible_values = true)]
    dtype: DTypeChoice,
}

impl KnownArgs {
    fn run(&self) -> Result<(), Failure> {
        let device = open(self.device)?;
        let dtype = self.dtype.0.unwrap_or_else(|| self.dtype.on(&device));
        let mut failed = Vec::new();
        for kind in markets().iter().filter(|k| self.market.as_deref().is_none_or(|name| name == k.name)) {
            let report = known(&device, dtype, kind.name, self.seed, self.epochs)?;
            say!("{report}")?;
            if !report.passed() {
                failed.push(kind.name);
            }
        }
        if failed.is_empty() {
            return Ok(());
        }
        Err(Failure::Check(format!("verify known failed on {}", failed.join(", "))))
    }
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// A finished run: its configuration, data and chosen members
    #[arg(value_name = "RUN")]
    run: Option<PathBuf>,
    /// The instrument, by its name in a run with several
    #[arg(long, value_name = "NAME", requires = "run")]
    market: Option<String>,
    /// A file of bars, divided by shares into windows; the run's own as it divides them, or the embedded sample, if left out
    #[arg(long, value_name = "FILE", num_args = 1..)]
    data: Vec<String>,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto", value_parser = offered::device(), hide_possible_values = true)]
    device: DeviceChoice,
    /// auto (the run's own; bf16 on a GPU and f32 on a CPU), bf16 or f32
    #[arg(long, default_value = "auto", value_parser = dtype_offered(), hide_possible_values = true)]
    dtype: DTypeChoice,
    #[command(flatten)]
    options: DataOptions,
}

struct Setting {
    device: Device,
    dtype: DType,
    config: Config,
    bars: Bars,
    trained: Option<TrainedRun>,
}

impl VerifyArgs {
    fn setting(&self) -> Result<Setting, Failure> {
        let trained =
            self.run.as_deref().map(|run| TrainedRun::open(run, self.market.as_deref())).transpose()?;
        let (config, bars) = match (&self.run, &trained) {
            (Some(run), Some(trained)) => {
                let mut config = trained.config.clone();
                let read = reading(&config, &self.data, &self.options)?;
                let other = !self.data.is_empty();
                let bars = if other { load_bars(&self.data, &read)? } else { load_own_bars(run, &config)? };
                if other {
                    // Dates and folds are of the run's own bars.
                    let DataConfig { train_share, validation_share, .. } = config.data;
                    config.data =
                        DataConfig { train_share, validation_share, ..Config::of(Size::Small).data };
                }
                (config, bars)
            }
            _ => {
                let config = Config::resolve_options(None, Some(Size::Small), &self.options.as_set())?;
                let bars = load_bars(&self.data, &config)?;
                (config, bars)
            }
        };
        let device = open(self.device)?;
        let own = trained.as_ref().map(|t| t.dtype);
        let dtype = self.dtype.0.or(own).unwrap_or_else(|| self.dtype.on(&device));
        Ok(Setting { device, dtype, config, bars, trained })
    }
}

pub(crate) fn run(command: &VerifyCommand) -> Result<(), Failure> {
    match command {
        VerifyCommand::Leak(args) => {
            let mut s = args.setting()?;
            if s.trained.is_none() {
                // Without a run to say what is looked at: everything that could be.
                s.config.features.set = "full".into();
                let needed = s.config.network.lookback * s.config.feature_set()?.len() + ACCOUNT_FEATURES;
                s.config.network.inputs = s.config.network.inputs.max(needed.next_multiple_of(64));
            }
            let agents = match &s.trained {
                None => Agents::fresh(&s.config),
                Some(trained) => {
                    let weights = trained.weights()?;
                    Agents::new(trained.ids(), move |runtime, net| {
                        for (m, w) in weights.iter().enumerate() {
                            apply(runtime, net, m, w)?;
                        }
                        Ok(())
                    })
                }
            };
            let report = leak(&s.device, s.dtype, &s.config, &s.bars, &agents)?;
            verdict("verify leak", &report, report.passed())
        }
        VerifyCommand::Learn(args) => {
            let s = args.setting()?;
            let report = learn(&s.device, s.dtype, &s.config, s.bars)?;
            verdict("verify learn", &report, report.passed())
        }
        VerifyCommand::Known(args) => args.run().map_err(Failure::of_check),
        VerifyCommand::Money(args) => {
            let s = args.setting()?;
            let report = money(&s.device, s.dtype, &s.config, &s.bars)?;
            verdict("verify money", &report, report.passed())
        }
    }
}

fn verdict(what: &str, report: &dyn Display, passed: bool) -> Result<(), Failure> {
    let said = say!("{report}");
    if passed { said } else { Err(Failure::Check(format!("{what} failed"))) }
}
