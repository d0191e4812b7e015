use super::{
    finish::Chosen,
    folds::{Walk, is_account},
    open, place, positions,
    report::Paper,
    source::{DataOptions, load_bars, load_bars_or, load_own_bars, refuse_markets, resolve},
    trained::TrainedRun,
};
use crate::Failure;
use clap::Args;
use foxhunt_backtest::{Backtest, TestWindow};
use foxhunt_core::DType;
use foxhunt_data::{Positions, show_moment};
use foxhunt_device::DeviceChoice;
use foxhunt_ledger::{Ledger, LedgerHeader, reconcile};
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
    /// A ledger whose actions are taken again, instead of the members': every number must come out the same
    ///
    /// A ledger of the run or, with --data, of a backtest on that file; of a run that walked forward its own or one of a fold.
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
        return of_walk(args, run, &trained, (path, recorded));
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

/// The ledger of one of a run's folds, or of its account through all, again.
fn of_walk(
    args: &BacktestArgs,
    run: &Path,
    trained: &TrainedRun,
    (path, recorded): (&Path, &Ledger),
) -> Result<(), Failure> {
    let config = &trained.config;
    let markets = Market::folds(load_own_bars(run, config)?, config)?;
    let device = open(args.device)?;
    let choices = &trained.of_folds;
    let walk = Walk {
        device: &device,
        dtype: trained.dtype,
        config,
        markets: &markets,
        saves: &trained.saves,
        choices,
    };
    let whole = walk.window()?;
    let is_of = |market: &Market, window: &TestWindow| stretch(market, window) == told(recorded);
    let last = markets.last().ok_or_else(|| Failure::Unusable("a run without folds".into()))?;
    let fold = markets.iter().position(|m| is_of(m, &TestWindow::test(m)));
    let (market, window) = match fold {
        _ if is_account(recorded) => (last, whole),
        Some(number) => (&markets[number], TestWindow::test(&markets[number])),
        None => (last, TestWindow::test(last)),
    };
    check_same(recorded, path, market, &window)?;
    if is_account(recorded) {
        let text = walk.account_again(&args.out, |b| replay(b, path, recorded), &trained.config_text)?;
        return say!("{text}");
    }
    let own: Vec<_> = choices.iter().filter(|c| c.fold == fold).cloned().collect();
    let members = Chosen::after(&trained.saves, &own, trained.trials)?;
    let backtest = Backtest::new(&device, trained.dtype, config, market, window)?;
    let ledger = replay(&backtest, path, recorded)?;
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

/// When the first and the last bar of a window close.
fn stretch(market: &Market, window: &TestWindow) -> (i64, i64) {
    let close_ns = &market.bars.close_ns;
    (close_ns[window.rows.start], close_ns[window.rows.end - 1])
}

/// When the first and the last bar close that a ledger tells of.
fn told(ledger: &Ledger) -> (i64, i64) {
    let window = &ledger.header.window;
    (window.start_ns, window.end_ns)
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

/// The ledger of a folder; says where one is if there is none.
fn read_ledger(path: &Path) -> Result<Ledger, Failure> {
    if path.join(foxhunt_ledger::FILLS_FILE).is_file() {
        return Ok(Ledger::read(path)?);
    }
    let at = path.display();
    let own = path.join(super::finish::LEDGER);
    Err(Failure::Unusable(if own.is_dir() {
        format!("{at} is no ledger, but has one: name {}", own.display())
    } else {
        format!("{at} is no ledger: name a folder with bars and fills, such as RUN/ledger")
    }))
}

/// Refuses a ledger of other bars or another stretch: its actions would mean nothing here.
fn check_same(recorded: &Ledger, path: &Path, market: &Market, window: &TestWindow) -> Result<(), Failure> {
    reconcile(recorded).map_err(|e| Failure::Check(format!("{}: {e}", path.display())))?;
    let theirs = &recorded.header;
    if theirs.data.sha256 == market.bars.source.sha256 && told(recorded) == stretch(market, window) {
        return Ok(());
    }
    let span = |(from, to): (i64, i64)| format!("{} to {}", show_moment(from), show_moment(to));
    Err(Failure::Refused(format!(
        "{} tells of the {} window of {} ({}, {}), and not of the {} window of {} ({}, {}) that is asked for: give a ledger of \
         this run, or with --data the file that it was made on",
        path.display(),
        theirs.window.name,
        theirs.instrument,
        theirs.data.name,
        span(told(recorded)),
        window.name,
        market.bars.instrument.name,
        market.bars.source.path,
        span(stretch(market, window)),
    )))
}

/// The recorded actions again, which must give the recorded ledger to the unit.
fn replay(backtest: &Backtest<'_>, path: &Path, recorded: &Ledger) -> Result<Ledger, Failure> {
    let again = backtest.replay(recorded)?;
    let bars = recorded.bars.iter().zip(&again.bars).filter(|(a, b)| a != b).count();
    let fills = recorded.fills.iter().zip(&again.fills).filter(|(a, b)| a != b).count();
    let lengths = recorded.bars.len() == again.bars.len() && recorded.fills.len() == again.fills.len();
    say!(
        "{} of {} bars and {} of {} fills come out as recorded",
        again.bars.len() - bars,
        recorded.bars.len(),
        again.fills.len() - fills,
        recorded.fills.len()
    )?;
    if bars > 0 || fills > 0 || !lengths {
        let what = format!("{} is not reproduced: {bars} bars and {fills} fills differ", path.display());
        return Err(Failure::Check(what));
    }
    // Of what stands above the numbers only the program's version may be another.
    let header = LedgerHeader { program: again.header.program.clone(), ..recorded.header.clone() };
    if header != again.header {
        let what =
            format!("{}: the numbers are reproduced, but its header tells of other rules", path.display());
        return Err(Failure::Check(what));
    }
    Ok(again)
}
