use super::{
    again::{check_own, check_same, of_walk, read_ledger, replay},
    finish::{Chosen, Tested, chosen},
    markets, notes, offered, open, place, positions,
    report::{Paper, Written},
    source::{
        DataOptions, load_bars_or, load_markets, load_own_bars, own_config, reading, resolve, take_files,
    },
    taught,
    trained::TrainedRun,
};
use crate::Failure;
use clap::Args;
use foxhunt_backtest::{Backtest, TestWindow};
use foxhunt_core::DType;
use foxhunt_data::{Bars, OfMarket, Positions};
use foxhunt_device::{Device, DeviceChoice};
use foxhunt_ledger::Ledger;
use foxhunt_train::{Config, Market, SetOption, Taught};
use std::path::{Path, PathBuf};

/// Backtest the chosen members of a run again, on its own test window or on other bars, or anyone's target exposures
#[derive(Args)]
#[command(
    after_help = "A file of positions is a CSV with the header stamp,exposure: stamps as in the file of bars, each the bar at whose close
the target is set; exposures from -1 (full short) to 1 (full long), kept as they are and not only at the agent's nine
levels. A target holds until the next; it is sent as a market order at the open of the next bar. Without a run the bars are
those of --data, or those of a configuration file, and all from the first target on are tested. Of several instruments the
file has a third column, market, with the name of each target's instrument; each is tested into a folder of its own, and one
page has the account through all of them.
With a run, the files of --data are read as the run read its own, and where they are of another shape as the options above
say; an empty text, as in --columns '', takes back what the run's configuration says.

Examples:
  foxhunt backtest runs/first --out runs/first-again
  foxhunt backtest runs/first --actions runs/first/ledger --out runs/first-replayed
  foxhunt backtest runs/first --data EURUSD_2018.csv --out runs/first-2018
  foxhunt backtest runs/first --data 2018.csv --columns time=Date,close=Last --instrument EUR/USD --out runs/first-2018
  foxhunt backtest runs/first --data EURUSD_2018.csv --actions runs/first-2018/ledger --out runs/again
  foxhunt backtest runs/walk --actions runs/walk/fold_0/ledger --out runs/walk-0-again
  foxhunt backtest runs/many --out runs/many-again
  foxhunt backtest runs/many --market eurusd --out runs/many-eurusd
  foxhunt backtest --positions mine.csv --data EURUSD_2018.csv --set market.leverage=2 --out runs/mine
  foxhunt backtest --positions both.csv --config two.toml --out runs/both"
)]
pub(crate) struct BacktestArgs {
    /// A finished run
    #[arg(value_name = "RUN", required_unless_present = "positions")]
    run: Option<PathBuf>,
    /// The instrument, by its name in a run with several; all of them if left out
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
    /// Without a run, a TOML file of configuration: data.markets for several instruments; unknown keys are errors
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    config: Option<PathBuf>,
    /// Without a run, a key of the configuration: market.leverage=2
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where ledger and report go, a new or empty folder
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto", value_parser = offered::device(), hide_possible_values = true)]
    device: DeviceChoice,
    #[command(flatten)]
    options: DataOptions,
}

pub(crate) fn run(args: &BacktestArgs) -> Result<(), Failure> {
    let mut set = args.options.as_set();
    set.extend(args.set.iter().map(|pair| SetOption::new("--set", pair, pair)));
    place::check_new(&args.out)?;
    match (&args.run, &args.positions) {
        (None, Some(file)) => say!("{}", alone(args, file, &set)?),
        (Some(run), _) if args.set.is_empty() => say!("{}", of_run(args, run)?),
        _ => Err(Failure::Refused("a run has its own configuration: leave --set out".to_owned())),
    }
}

/// One instrument, read and checked, before anything is tested.
struct Prepared {
    config: Config,
    dtype: DType,
    market: Market,
    window: TestWindow,
    /// Targets that are tested instead of a policy.
    positions: Option<Positions>,
}

impl Prepared {
    fn backtest<'a>(&'a self, device: &'a Device) -> Result<Backtest<'a>, Failure> {
        Ok(Backtest::new(device, self.dtype, &self.config, &self.market, self.window.clone())?)
    }

    /// Refuses what would be refused later, so that no other instrument is tested in vain.
    fn checked(self, device: &Device) -> Result<Self, Failure> {
        let (bars, rows) = (&self.market.bars, &self.window.rows);
        self.positions.as_ref().map_or(Ok(()), |positions| positions::check(bars, rows, positions))?;
        self.backtest(device)?;
        notes::tell_tested(&self.market, &self.window.name, rows);
        Ok(self)
    }
}

/// Anyone's exposures, without a run.
fn alone(args: &BacktestArgs, file: &Path, set: &[SetOption]) -> Result<String, Failure> {
    let mut config = resolve(args.config.as_deref(), None, set)?;
    take_files(&mut config, &args.data)?;
    if config.walks() {
        return Err(Failure::Refused(
            "positions are tested over all bars: leave data.walk_forward out".into(),
        ));
    }
    // Nobody looks back: the stretch begins with the first target.
    config.network.lookback = 1;
    let text = config.to_toml()?;
    let device = open(args.device)?;
    let names = names_of(&config);
    let prepare = |number: usize, bars: Bars| {
        let own = config.of_market(number);
        let market = Market::prepare_bare(bars, &own)?;
        let of = names.get(number).map(|own| OfMarket { names: &names, own, alone: names.len() == 1 });
        let positions = Positions::read(file, &market.bars, of)?;
        let first = positions.targets.first().map_or(0, |(row, _)| *row);
        let window = TestWindow { name: "positions".into(), rows: first..market.bars.len() };
        let prepared =
            Prepared { config: own, dtype: DType::F32, market, window, positions: Some(positions) };
        prepared.checked(&device)
    };
    let all = load_markets(&config)?.into_iter().enumerate();
    let all: Vec<Prepared> = all
        .map(|(number, bars)| {
            prepare(number, bars).map_err(|e| e.at_some(config.market_place(number).as_deref()))
        })
        .collect::<Result<_, _>>()?;
    let mut lines = Vec::new();
    for (number, prepared) in all.iter().enumerate() {
        let (Some(positions), name) = (&prepared.positions, names.get(number)) else { continue };
        let out = name.map_or_else(|| args.out.clone(), |name| args.out.join(name));
        let tested = positions::run(&prepared.backtest(&device)?, positions, &out, None, &text)?;
        match name {
            None => return Ok(tested.text),
            Some(name) => {
                lines.extend(markets::given(name, &prepared.market, prepared.window.rows.clone(), tested));
            }
        }
    }
    markets::page(&args.out, &lines, &targets_of(file), &text)
}

/// What the page across instruments says of given targets.
fn targets_of(file: &Path) -> String {
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    format!("The targets of each instrument are its own in {name}.")
}

fn names_of(config: &Config) -> Vec<&str> {
    (0..config.markets()).filter_map(|m| config.market_name(m)).collect()
}

/// One instrument, or all of a run that has several and where none is named.
fn of_run(args: &BacktestArgs, run: &Path) -> Result<String, Failure> {
    let (config, text) = own_config(run)?;
    reading(&config, &args.data, &args.options)?;
    let names = names_of(&config);
    let device = open(args.device)?;
    if args.market.is_some() || names.len() < 2 {
        if let (Some(path), true, true) = (&args.actions, config.walks(), args.data.is_empty()) {
            let trained = TrainedRun::open(run, args.market.as_deref())?;
            return of_walk((run, &args.out), &device, &trained, (path, &read_ledger(path)?));
        }
        let of_run = prepare(args, run, (args.market.as_deref(), &names), &device)?;
        return Ok(test(&of_run, run, &args.out, &device)?.text);
    }
    if !args.data.is_empty() || args.actions.is_some() {
        return Err(Failure::Refused(format!(
            "{} has the instruments {}, and --data and --actions are of one: name it with --market",
            run.display(),
            names.join(", ")
        )));
    }
    let prepare = |name: &&str| prepare(args, run, (Some(name), &names), &device);
    let all = names.iter().map(prepare).collect::<Result<Vec<OfRun>, Failure>>()?;
    let mut lines = Vec::new();
    for (name, of_run) in names.iter().zip(&all) {
        let tested = test(of_run, run, &args.out.join(name), &device)?;
        let Prepared { market, window, positions, .. } = &of_run.prepared;
        lines.extend(match positions {
            None => markets::line(name, std::slice::from_ref(market), tested),
            Some(_) => markets::given(name, market, window.rows.clone(), tested),
        });
    }
    let words = match &args.positions {
        None => markets::words(&config).to_owned(),
        Some(file) => targets_of(file),
    };
    markets::page(&args.out, &lines, &words, &text)
}

/// One instrument of a run.
struct OfRun {
    trained: TrainedRun,
    prepared: Prepared,
    /// A ledger whose actions are taken again, and its folder.
    recorded: Option<(PathBuf, Ledger)>,
}

/// One instrument of a run, by its name where it has one.
fn prepare(
    args: &BacktestArgs,
    run: &Path,
    (name, names): (Option<&str>, &[&str]),
    device: &Device,
) -> Result<OfRun, Failure> {
    let trained = TrainedRun::open(run, name)?;
    let recorded =
        args.actions.as_ref().map(|path| Ok::<_, Failure>((path.clone(), read_ledger(path)?))).transpose()?;
    let config = trained.config.clone();
    if config.walks() {
        note!("note: the run walked forward: its last fold is tested, fold {}", config.folds() - 1);
    }
    let (market, window) = if args.data.is_empty() {
        let own = Market::prepare(load_own_bars(run, &config)?, &config)?;
        let window = TestWindow::test(&own);
        (own, window)
    } else {
        let own = taught::read(run, &config)?;
        let mut market = unseen(&args.data, &args.options, &config, &own, 2)?;
        if args.positions.is_some() {
            // Targets that are given were taught nothing.
            market.taught_ns = None;
        }
        let rows = market.splits.test.clone();
        (market, TestWindow { name: "other data".into(), rows })
    };
    if let Some((path, recorded)) = &recorded {
        check_same(recorded, path, &market, &window)?;
    }
    let of = config.market_name(0).map(|own| {
        let alone = args.market.is_some() || names.len() == 1;
        OfMarket { names, own, alone }
    });
    let positions =
        args.positions.as_deref().map(|file| Positions::read(file, &market.bars, of)).transpose()?;
    let prepared = Prepared { config, dtype: trained.dtype, market, window, positions }.checked(device);
    let prepared = prepared.map_err(|e| e.at_some(name))?;
    Ok(OfRun { trained, prepared, recorded })
}

/// The test of one instrument of a run, into the folder `out`.
fn test(x: &OfRun, run: &Path, out: &Path, device: &Device) -> Result<Tested, Failure> {
    let OfRun { trained, prepared, recorded } = x;
    let backtest = prepared.backtest(device)?;
    if let Some(positions) = &prepared.positions {
        return positions::run(&backtest, positions, out, Some(run), &trained.config_text);
    }
    let members = Chosen::after(&trained.saves, &trained.choices, trained.trials)?.on(&backtest)?;
    let ledger = match recorded {
        None => members.run(&backtest)?,
        Some((path, recorded)) => {
            check_own(&members, &backtest, path, recorded)?;
            replay(&backtest, path, recorded)?
        }
    };
    std::fs::create_dir_all(out).map_err(|e| Failure::file("make the folder", out, &e))?;
    let (member, chosen) = chosen(&trained.config, &trained.choices);
    let Written { text, baselines, stress } = members.paper(&Paper {
        folder: out,
        run: Some(run),
        backtest: &backtest,
        ledger: &ledger,
        chosen: Some(member),
        given: None,
        folds: &[],
        config_text: &trained.config_text,
    })?;
    Ok(Tested { text, ledger, member, chosen, baselines, stress })
}

/// Other bars for members that were trained on `own`, of which `least` must have all features in sight.
pub(crate) fn unseen(
    files: &[String],
    options: &DataOptions,
    config: &Config,
    own: &Taught,
    least: usize,
) -> Result<Market, Failure> {
    let trained_on = &own.instrument.name;
    let bars = load_bars_or(files, &reading(config, files, options)?, Some(&own.instrument))?;
    let [trained, found] = [own.bar_seconds, bars.source.bar_seconds].map(foxhunt_data::show_seconds);
    if own.bar_seconds != bars.source.bar_seconds {
        return Err(Failure::Refused(format!(
            "{} has bars of {found}, and the members were trained on bars of {trained} ({}): give bars of {trained}",
            bars.source.path, own.data
        )));
    }
    if *trained_on != bars.instrument.name {
        note!(
            "note: the members were trained on {trained_on}, and the bars of {} are of {}",
            bars.source.path,
            bars.instrument.name
        );
    }
    Ok(Market::prepare_unseen(bars, config, own, least)?)
}
