use super::{
    again::{check_same, of_walk, read_ledger, replay},
    finish::Chosen,
    open, place, positions,
    report::Paper,
    source::{DataOptions, load_bars, load_bars_or, load_own_bars, refuse_markets, resolve},
    trained::TrainedRun,
};
use crate::Failure;
use clap::Args;
use foxhunt_backtest::{Backtest, TestWindow};
use foxhunt_core::DType;
use foxhunt_data::Positions;
use foxhunt_device::DeviceChoice;
use foxhunt_train::{Config, Market, SetOption};
use std::path::{Path, PathBuf};

/// Backtest the chosen members of a run again, on its own test window or on other bars, or anyone's target exposures
#[derive(Args)]
#[command(
    after_help = "A file of positions is a CSV with the header stamp,exposure: stamps as in the file of bars, each the bar at whose close
the target is set; exposures from -1 (full short) to 1 (full long), kept as they are and not only at the agent's nine
levels. A target holds until the next; it is sent as a market order at the open of the next bar. Without a run the bars are
those of --data.

Examples:
  foxhunt backtest runs/first --out runs/first-again
  foxhunt backtest runs/first --actions runs/first/ledger --out runs/first-replayed
  foxhunt backtest runs/first --data EURUSD_2018.csv --out runs/first-2018
  foxhunt backtest runs/first --data EURUSD_2018.csv --actions runs/first-2018/ledger --out runs/again
  foxhunt backtest runs/walk --actions runs/walk/fold_0/ledger --out runs/walk-0-again
  foxhunt backtest runs/many --market eurusd --out runs/many-eurusd
  foxhunt backtest --positions mine.csv --data EURUSD_2018.csv --set market.leverage=2 --out runs/mine"
)]
pub(crate) struct BacktestArgs {
    /// A finished run
    #[arg(value_name = "RUN", required_unless_present = "positions")]
    run: Option<PathBuf>,
    /// The instrument, by its name in a run with several
    #[arg(long, value_name = "NAME", requires = "run")]
    market: Option<String>,
    /// Other bars: the whole file is tested, with features normalised as in training
    #[arg(long, value_name = "FILE", num_args = 1..)]
    data: Vec<String>,
    /// A ledger of the run, a fold or a backtest on --data, whose actions are taken again: every number must come out the same
    #[arg(long, value_name = "LEDGER")]
    actions: Option<PathBuf>,
    /// A CSV file of stamps and target exposures, taken instead of the members'
    #[arg(long, value_name = "FILE", conflicts_with = "actions")]
    positions: Option<PathBuf>,
    /// Without a run, a key of the configuration: market.leverage=2
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where ledger and report go, a new or empty folder
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    #[command(flatten)]
    options: DataOptions,
}

pub(crate) fn run(args: &BacktestArgs) -> Result<(), Failure> {
    let mut set = args.options.as_set();
    set.extend(args.set.iter().map(|pair| SetOption::new("--set", pair, pair)));
    match (&args.run, &args.positions) {
        (None, Some(file)) => alone(args, file, &set),
        (Some(run), _) if set.is_empty() => of_run(args, run),
        _ => Err(Failure::Refused(
            "a run has its own configuration: leave out --set and how data are read".to_owned(),
        )),
    }
}

/// Anyone's exposures, without a run.
fn alone(args: &BacktestArgs, file: &Path, set: &[SetOption]) -> Result<(), Failure> {
    place::check_new(&args.out)?;
    let mut config = resolve(None, None, set)?;
    refuse_markets(&config, "backtest --positions")?;
    config.data.files.clone_from(&args.data);
    // Nobody looks back: the stretch may begin with the first bar that has what costs need.
    config.network.lookback = 1;
    let market = Market::prepare(load_bars(&args.data, &config)?, &config)?;
    let positions = Positions::read(file, &market.bars)?;
    let whole = market.splits.train.start..market.bars.len();
    let first = positions.targets.first().map_or(whole.start, |(row, _)| *row);
    let rows = whole.start.max(first)..whole.end;
    let device = open(args.device)?;
    let window = TestWindow { name: "positions".into(), rows };
    let backtest = Backtest::new(&device, DType::F32, &config, &market, window)?;
    say!("{}", positions::run(&backtest, &positions, &args.out, None, &config.to_toml()?)?)
}

fn of_run(args: &BacktestArgs, run: &Path) -> Result<(), Failure> {
    let trained = TrainedRun::open(run, args.market.as_deref())?;
    place::check_new(&args.out)?;
    let recorded =
        args.actions.as_deref().map(|path| Ok::<_, Failure>((path, read_ledger(path)?))).transpose()?;
    let config = &trained.config;
    if let (Some((path, recorded)), true, true) = (&recorded, config.walks(), args.data.is_empty()) {
        let device = open(args.device)?;
        return say!("{}", of_walk((run, &args.out), &device, &trained, (path, recorded))?);
    }
    if config.walks() {
        note!("note: the run walked forward: its last fold is tested, fold {}", config.folds() - 1);
    }
    let own = Market::prepare(load_own_bars(run, config)?, config)?;
    let (market, window) = if args.data.is_empty() {
        let window = TestWindow::test(&own);
        (own, window)
    } else {
        let market = unseen(&args.data, config, &own)?;
        let rows = market.splits.train.start..market.bars.len();
        (market, TestWindow { name: "other data".into(), rows })
    };
    if let Some((path, recorded)) = &recorded {
        check_same(recorded, path, &market, &window)?;
    }
    let device = open(args.device)?;
    let backtest = Backtest::new(&device, trained.dtype, config, &market, window)?;
    if let Some(file) = &args.positions {
        let positions = Positions::read(file, &market.bars)?;
        return say!(
            "{}",
            positions::run(&backtest, &positions, &args.out, Some(run), &trained.config_text)?
        );
    }
    let members = Chosen::after(&trained.saves, &trained.choices, trained.trials)?;
    let ledger = match &recorded {
        None => members.run(&backtest)?,
        Some((path, recorded)) => replay(&backtest, path, recorded)?,
    };
    std::fs::create_dir_all(&args.out).map_err(|e| Failure::file("make the folder", &args.out, &e))?;
    let written = members.paper(&Paper {
        folder: &args.out,
        run: Some(run),
        backtest: &backtest,
        ledger: &ledger,
        given: None,
        folds: &[],
        config_text: &trained.config_text,
    })?;
    say!("{}", written.text)
}

/// Other bars for members that were trained on `own`.
pub(crate) fn unseen(files: &[String], config: &Config, own: &Market) -> Result<Market, Failure> {
    let trained_on = &own.bars.instrument.name;
    let bars = load_bars_or(files, config, Some(&own.bars.instrument))?;
    if *trained_on != bars.instrument.name {
        note!("note: the members were trained on {trained_on} and are tested on {}", bars.instrument.name);
    }
    Ok(Market::prepare_unseen(bars, config, own)?)
}
