use super::{
    finish::{Finish, SELECTION, Validation, end_files, finish},
    notes, number, offered, open, place,
    progress::Progress,
    report::read_metrics,
    setting::{SETTING, Setting, device_name},
    source::{DataOptions, load_markets, load_own_markets, own_config, resolve, take_files},
    stop, taught,
};
use crate::{Failure, live::Board, tensorboard::Events};
use clap::{Args, builder::TypedValueParser};
use foxhunt_checkpoint::{FINISHED, Retention, RunFolder, Save, Status};
use foxhunt_core::{DType, Rounding};
use foxhunt_device::{Device, DeviceChoice, training_dtype};
use foxhunt_train::{Config, EpochReport, Market, SetOption, Size, Trainer, WeightsChoice};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Train a population of agents, backtest them on the test window and write a report
///
/// Without --data it uses the embedded sample: EUR/USD, hourly, 2017.
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt train --out runs/first
  foxhunt train --data XBTUSD_60.csv.gz --population 8 --set learn.gamma=0.995 --out runs/btc
  foxhunt train --data XBTUSD_60.csv.gz --set data.walk_forward.folds=3 --set data.walk_forward.validation_days=365 \\
      --set data.walk_forward.test_days=365 --out runs/btc-walk
  foxhunt train --config two-instruments.toml --out runs/two
  foxhunt train --resume runs/btc
  foxhunt train --resume runs/btc --live")]
pub(crate) struct TrainArgs {
    /// Files of bars of one instrument, in order of time; the embedded sample if left out. A relative path counts from where foxhunt is started. Several instruments stand in a configuration file, as data.markets
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "resume")]
    data: Vec<String>,
    #[command(flatten)]
    how: DataOptions,
    /// A TOML file of configuration; unknown keys are errors
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// A key of the configuration, over the file: learn.gamma=0.99
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "resume")]
    set: Vec<String>,
    /// Defaults of a size: small, study or bench
    #[arg(long, value_parser = size_offered(), hide_possible_values = true, conflicts_with = "resume")]
    size: Option<Size>,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto", value_parser = offered::device(), hide_possible_values = true)]
    device: DeviceChoice,
    /// How numbers are stored: auto (bf16 on a GPU, f32 on a CPU), bf16 or f32
    #[arg(long, default_value = "auto", value_parser = dtype_offered(), hide_possible_values = true)]
    dtype: DTypeChoice,
    /// In bf16, how weights and targets are stored: as pairs of high and low word (auto, paired) or as one word each (plain: half
    /// the bytes, 4 to 8 % less time a step); products read the high word
    #[arg(long, value_name = "auto|plain|paired", conflicts_with = "resume", hide_possible_values = true,
        value_parser = offered::offered(&["auto", "plain", "paired"], |s: &str| s.parse::<WeightsChoice>()))]
    weights: Option<WeightsChoice>,
    /// In bf16, how weights, moments and targets are rounded; nearest is for study: it loses small steps. So are nearest-weights,
    /// nearest-m, nearest-v and nearest-targets, which round one of them so
    #[arg(long, value_name = "stochastic|nearest", conflicts_with = "resume", hide_possible_values = true,
        value_parser = offered::offered(
            &["stochastic", "nearest", "nearest-weights", "nearest-m", "nearest-v", "nearest-targets"],
            |s: &str| s.parse::<Rounding>()
        ))]
    rounding: Option<Rounding>,
    /// Members of the population
    #[arg(long, conflicts_with = "resume", allow_negative_numbers = true, value_parser = number::any::<usize>)]
    population: Option<usize>,
    /// Seed of everything random
    #[arg(long, conflicts_with = "resume", allow_negative_numbers = true, value_parser = number::seed)]
    seed: Option<u64>,
    /// Epochs
    #[arg(long, conflicts_with = "resume", allow_negative_numbers = true, value_parser = number::any::<u32>)]
    epochs: Option<u32>,
    /// The run's folder, new or empty
    #[arg(long, value_name = "DIR", default_value = "runs/latest", conflicts_with = "resume")]
    out: PathBuf,
    /// A full-screen view while it runs: loss, returns, validation score after each epoch, rate, time left; q leaves it
    #[arg(long)]
    live: bool,
    /// Goes on with a run from its last full save
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Minutes between full saves, with which a run can go on; 0 saves after every epoch
    #[arg(long, value_name = "MINUTES", default_value = "5", allow_negative_numbers = true, value_parser = minutes)]
    save_every: Duration,
}

/// What --dtype says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DTypeChoice(pub(crate) Option<DType>);

impl DTypeChoice {
    pub(crate) fn on(self, device: &Device) -> DType {
        self.0.unwrap_or_else(|| training_dtype(device))
    }
}

/// A storage type, or the device's own.
pub(crate) fn dtype_offered() -> impl TypedValueParser<Value = DTypeChoice> {
    offered::offered(&["auto", "bf16", "f32"], dtype)
}

/// A size, whose defaults are taken.
pub(crate) fn size_offered() -> impl TypedValueParser<Value = Size> {
    offered::offered(&["small", "study", "bench"], size)
}

fn dtype(s: &str) -> Result<DTypeChoice, String> {
    if s == "auto" {
        return Ok(DTypeChoice(None));
    }
    s.parse().map(|d| DTypeChoice(Some(d))).map_err(|_| format!("unknown dtype '{s}': use auto, bf16 or f32"))
}

pub(crate) fn minutes(s: &str) -> Result<Duration, String> {
    const WEEK: f64 = 10_080.0;
    match s.parse::<f64>() {
        Ok(m) if (0.0..=WEEK).contains(&m) => Ok(Duration::from_secs_f64(60.0 * m)),
        _ => Err(format!("give a number of minutes from 0 to {WEEK}")),
    }
}

fn size(s: &str) -> Result<Size, String> {
    match s {
        "small" => Ok(Size::Small),
        "study" => Ok(Size::Study),
        "bench" => Ok(Size::Bench),
        _ => Err(format!("unknown size '{s}': use small, study or bench")),
    }
}

pub(crate) fn run(args: &TrainArgs) -> Result<(), Failure> {
    stop::listen("after this epoch, with a save");
    let mut session = match &args.resume {
        None => Session::create(args)?,
        Some(path) => {
            let gone = gone(path);
            if !gone.is_empty() {
                note!(
                    "note: {} has no {}: the end of the run is done again",
                    path.display(),
                    gone.join(", ")
                );
            }
            let whole = gone.is_empty() && path.join(SELECTION).exists();
            let open = if whole { RunFolder::open } else { RunFolder::open_unfinished };
            let (folder, save) = open(path)?;
            for note in folder.notes() {
                note!("note: {note}");
            }
            if folder.status() == Status::Finished {
                return say!("{} is finished", path.display());
            }
            Session::resume(folder, save, args)?
        }
    };
    session.train(args.save_every, args.live)?;
    say!("{}", session.finish()?)
}

/// What a finished run lacks of what its end wrote.
fn gone(run: &Path) -> Vec<String> {
    if !run.join(FINISHED).exists() {
        return Vec::new();
    }
    // A configuration that can't be read is told when the folder is opened.
    let files = own_config(run).map_or_else(|_| vec![SELECTION.to_owned()], |(config, _)| end_files(&config));
    files.into_iter().filter(|file| !run.join(file).exists()).collect()
}

/// A run being trained.
struct Session {
    folder: RunFolder,
    config: Config,
    markets: Vec<Market>,
    device: Device,
    dtype: DType,
    trainer: Trainer,
    events: Events,
}

impl Session {
    fn create(args: &TrainArgs) -> Result<Self, Failure> {
        let mut set: Vec<SetOption> =
            args.set.iter().map(|pair| SetOption::new("--set", pair, pair)).collect();
        set.extend(args.how.as_set());
        let text = |x: &dyn ToString| x.to_string();
        let own = [
            ("--population", "population", args.population.as_ref().map(|p| text(p))),
            ("--seed", "seed", args.seed.as_ref().map(|s| text(s))),
            ("--epochs", "epochs", args.epochs.as_ref().map(|e| text(e))),
            ("--weights", "learn.weights", args.weights.as_ref().map(|w| text(w))),
            ("--rounding", "learn.rounding", args.rounding.as_ref().map(|r| text(r))),
        ];
        set.extend(own.into_iter().filter_map(|(name, key, value)| {
            value.map(|value| SetOption::new(name, &format!("{key}={value}"), &value))
        }));
        let mut config = resolve(args.config.as_deref(), args.size, &set)?;
        take_files(&mut config, &args.data)?;
        // All that can be wrong with folder, data or sizes is found before there is a folder.
        place::check_reachable(&args.out)?;
        RunFolder::check_free(&args.out)?;
        let bars = load_markets(&config)?;
        let markets = Market::all(bars.clone(), &config)?;
        notes::tell_markets(&markets);
        let device = open(args.device)?;
        let dtype = args.dtype.on(&device);
        if dtype == DType::F32 && config.learn.rounding != Rounding::Stochastic {
            note!("note: learn.rounding changes nothing in f32: nothing is rounded there");
        }
        let trainer = Trainer::on(&device, dtype, &config, &markets)?;
        config.settle_storage(dtype);
        let folder = RunFolder::create(&args.out, &config.to_toml()?)?;
        Setting::new(&trainer, dtype, &config, &bars).write(folder.path())?;
        taught::write(folder.path(), &config, &markets)?;
        let events = Events::open(folder.path(), &[])?;
        Ok(Session { folder, config, markets, device, dtype, trainer, events })
    }

    fn resume(folder: RunFolder, save: Option<Save>, args: &TrainArgs) -> Result<Self, Failure> {
        let path = folder.path().to_owned();
        let path = path.as_path();
        let place = path.join("config.toml").display().to_string();
        let config = Config::resolve(Some((&place, folder.config())), None, &[])?;
        let (bars, setting) = load_own_markets(path, &config)?;
        let markets = Market::all(bars.clone(), &config)?;
        let device = open(args.device)?;
        let resumable = save.filter(|s| folder.status() == Status::Resumable && s.state_path().is_some());
        let host = match resumable.as_ref().and_then(Save::state_path) {
            Some(state) => Some(foxhunt_checkpoint::read_host(&state)?),
            None => None,
        };
        let own = setting.as_ref().and_then(|s| s.dtype().ok());
        let dtype = match (own, args.dtype.0) {
            (Some(saved), Some(asked)) if saved != asked => {
                return Err(Failure::Refused(format!(
                    "{} was trained in {saved}: it can't go on in {asked}; leave --dtype out",
                    path.display()
                )));
            }
            (Some(saved), _) => saved,
            (None, _) => args.dtype.on(&device),
        };
        if setting.is_none() && resumable.is_some() {
            let what = format!("{} is missing: restore it from a copy", path.join(SETTING).display());
            return Err(Failure::Unusable(what));
        }
        taught::write_missing(path, &config, &markets)?;
        if let Some(newest) = &resumable {
            // Told now, not after all remaining epochs.
            let there = |epoch: &u64| {
                let save = folder.saves().iter().find(|save| save.epoch() == *epoch);
                save.is_some_and(|save| matches!(save.damage(), Ok(None)))
            };
            if let Some(epoch) = (1..=newest.epoch()).find(|epoch| !there(epoch)) {
                return Err(Failure::Unusable(format!(
                    "the weights of epoch {epoch} are gone or damaged, and the validation window chooses among all epochs: \
                     restore {}/checkpoints/epoch_{epoch:06} from a copy, or start a new run",
                    path.display()
                )));
            }
        }
        let mut trainer = Trainer::on(&device, dtype, &config, &markets)?;
        match &setting {
            // Stopped between the folder and its setting: the run begins only now.
            None => Setting::new(&trainer, dtype, &config, &bars).write(path)?,
            Some(own) => {
                if let Some(other) = own.other_products(&trainer.runtime().gemm_record()) {
                    note!("note: {other}");
                }
            }
        }
        if let (Some(save), Some(host)) = (resumable, host) {
            if let Some(other) = saved_elsewhere(&host, &device_name(&device)) {
                note!("note: {other}");
            }
            let state = trainer.state().to_vec();
            save.load_state(trainer.runtime(), &state)?;
            trainer.set_epochs_done(u32::try_from(save.epoch()).unwrap_or(u32::MAX));
        }
        let events = Events::open(folder.path(), &read_metrics(folder.path())?)?;
        Ok(Session { folder, config, markets, device, dtype, trainer, events })
    }

    fn train(&mut self, save_every: Duration, live: bool) -> Result<(), Failure> {
        // With two, damage to what was saved last does not end the run.
        self.folder.set_retention(Retention { states: 2, weights: None });
        let mut progress =
            Progress::new(u64::from(self.config.epochs), u64::from(self.trainer.epochs_done()));
        if live {
            progress.show_live(self.board()?);
        }
        let Session { folder, config, markets, device, dtype, trainer, events } = self;
        let validation =
            progress.is_live().then(|| Validation::new(device, *dtype, config, markets)).transpose()?;
        let mut last = Instant::now();
        while trainer.epochs_done() < config.epochs {
            let reports = trainer.epoch()?;
            for report in &reports {
                folder.append_metrics(&line(report))?;
            }
            events.append(&reports)?;
            let done = trainer.epochs_done() == config.epochs;
            let stopped = stop::asked();
            let full = done || stopped.is_some() || last.elapsed() >= save_every;
            save(folder, config, device, *dtype, trainer, full)?;
            if full {
                last = Instant::now();
            }
            let shown = validation.as_ref().filter(|_| progress.is_live());
            let returns = match (folder.saves().last(), shown) {
                (Some(save), Some(validation)) => validation.returns(save)?,
                _ => Vec::new(),
            };
            progress.epoch(config, &reports, &returns);
            if let Some(signal) = stopped {
                progress.finish();
                let path = folder.path().display();
                note!(
                    "saved after epoch {}; go on with: foxhunt train --resume {path}",
                    trainer.epochs_done()
                );
                return Err(Failure::Stopped { signal });
            }
        }
        progress.finish();
        Ok(())
    }

    /// What the live view begins with.
    fn board(&self) -> Result<Board, Failure> {
        let (c, done) = (&self.config, u64::from(self.trainer.epochs_done()));
        let members = c.member_ids().len();
        let data = self.markets.chunks(c.folds()).enumerate().filter_map(|(number, folds)| {
            let bars = &folds.first()?.bars;
            Some(format!("{}, {} bars", c.market_name(number).unwrap_or(&bars.source.path), bars.len()))
        });
        let mut board = Board {
            run: self.folder.path().display().to_string(),
            device: format!("{}, {}", self.device, self.dtype),
            data: data.collect::<Vec<_>>().join("; "),
            members,
            memory: self.trainer.memory().total(),
            steps: (c.learn.collect * members) as u64,
            epochs: u64::from(c.epochs),
            done,
            first: done,
            ..Board::default()
        };
        board.add(&read_metrics(self.folder.path())?);
        Ok(board)
    }

    fn finish(mut self) -> Result<String, Failure> {
        stop::promise("before the next backtest; all epochs are saved");
        let ended = finish(&Finish {
            folder: self.folder.path(),
            out: self.folder.path(),
            saves: self.folder.saves(),
            config: &self.config,
            config_text: self.folder.config(),
            markets: &self.markets,
            device: &self.device,
            dtype: self.dtype,
            events: &self.events,
        });
        if let Err(Failure::Stopped { .. }) = ended {
            note!(
                "all {} epochs are saved; go on with: foxhunt train --resume {}",
                self.config.epochs,
                self.folder.path().display()
            );
        }
        let lines = ended?;
        // Nothing goes on from a finished run, and when states were written on the way depends on the clock: what is left must not.
        self.folder.set_retention(Retention { states: 1, weights: None });
        self.folder.finish()?;
        if stop::stop_asked() {
            note!("the run was finished before it could stop");
        }
        Ok(lines)
    }
}

/// Saves the weights of all members, and where it is `full` the state that training goes on from.
fn save(
    folder: &mut RunFolder,
    config: &Config,
    device: &Device,
    dtype: DType,
    trainer: &Trainer,
    full: bool,
) -> Result<(), Failure> {
    let epoch = u64::from(trainer.epochs_done());
    let mut save = folder.begin_save(epoch)?;
    for (member, id) in config.member_ids().into_iter().enumerate() {
        save.weights(id, trainer.runtime(), trainer.net(), member)?;
    }
    if full {
        let host = json!({ "epoch": epoch, "device": device_name(device), "dtype": dtype.name() });
        save.state(trainer.runtime(), trainer.state(), &host)?;
    }
    save.commit()?;
    Ok(())
}

/// What is to be told where a state was saved on another device than this.
fn saved_elsewhere(host: &Value, device: &str) -> Option<String> {
    let saved = host["device"].as_str().filter(|saved| *saved != device)?;
    Some(format!("saved on another device ({saved}): the run goes on, but not bit for bit"))
}

fn line(report: &EpochReport) -> Value {
    json!(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_device_is_named_as_it_calls_itself() {
        let host = json!({ "epoch": 1, "device": "NVIDIA H200", "dtype": "bf16" });
        let told = "saved on another device (NVIDIA H200): the run goes on, but not bit for bit";
        assert_eq!(saved_elsewhere(&host, "CPU").as_deref(), Some(told));
        assert_eq!(saved_elsewhere(&host, "NVIDIA H200"), None);
        assert_eq!(saved_elsewhere(&json!({}), "CPU"), None);
    }
}
