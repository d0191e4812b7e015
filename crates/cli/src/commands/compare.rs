use super::{
    number, offered, open, place,
    progress::Progress,
    source::{DataOptions, load_markets, resolve, take_files},
    stop,
    train::{minutes, size_offered},
};
use crate::Failure;
use clap::Args;
use foxhunt_backtest::TestWindow;
use foxhunt_compare::{
    Arm, Comparison, Control, Difference, Folder, Measure, RegretOf, Setting, Task, compare, render,
    run_slice, write_whole,
};
use foxhunt_device::DeviceChoice;
use foxhunt_known::{KnownMarket, Lengths};
use foxhunt_train::{Config, EpochReport, Market, SetOption, Size};
use std::{
    ops::Range,
    path::PathBuf,
    time::{Duration, Instant},
};

/// Train the same configuration in F32 and in BF16 in several ways, with the same seeds, and compare
///
/// Members are trained in slices, each a file: stop at any time, run the same command again to go on, and bring together
/// what several machines have finished with --merge.
///
/// Of several instruments in a configuration file, as data.markets, each has a comparison of its own in a folder of its name; where
/// they share a policy there is one, and a member's score is its mean over them.
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt compare --market known:drift --out compare/drift
  foxhunt compare --data XBTUSD_60.csv.gz --size study --arms f32,paired --members 32 --out compare/btc
  foxhunt compare --config two.toml --members 32 --out compare/two
  foxhunt compare --market known:drift --members 32..64 --minutes 20 --out compare/second-half
  foxhunt compare --market known:drift --minutes 0 --merge compare/second-half --out compare/drift")]
pub(crate) struct CompareArgs {
    /// A market whose optimum is known, known:NAME, on which members are scored by their regret
    #[arg(long, value_name = "known:NAME", conflicts_with = "data")]
    market: Option<String>,
    /// Files of bars of one instrument, in order of time; the embedded sample if left out. Members are scored by their Sharpe ratio
    #[arg(long, value_name = "FILE", num_args = 1..)]
    data: Vec<String>,
    #[command(flatten)]
    how: DataOptions,
    /// A TOML file of configuration; unknown keys are errors
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A key of the configuration, over the file: learn.gamma=0.99
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Defaults of a size: small, study or bench
    #[arg(long, value_parser = size_offered(), hide_possible_values = true)]
    size: Option<Size>,
    /// Seed of everything random
    #[arg(long, allow_negative_numbers = true, value_parser = number::seed)]
    seed: Option<u64>,
    /// Epochs
    #[arg(long, allow_negative_numbers = true, value_parser = number::any::<u32>)]
    epochs: Option<u32>,
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto", value_parser = offered::device(), hide_possible_values = true)]
    device: DeviceChoice,
    /// Arms: f32, nearest, stochastic, paired; nearest-weights, nearest-m, nearest-v and nearest-targets round one quantity to
    /// nearest and all else stochastically
    #[arg(
        long,
        value_name = "ARM,ARM",
        value_delimiter = ',',
        default_value = "f32,nearest,stochastic,paired"
    )]
    arms: Vec<Arm>,
    /// Members of every arm: a number, or ids from..to (to is left out)
    #[arg(long, value_name = "N|A..B", default_value = "64", allow_negative_numbers = true, value_parser = members)]
    members: Range<u64>,
    /// Members that are trained at once; changes memory and time alone
    #[arg(long, default_value = "32", allow_negative_numbers = true, value_parser = number::whole(1..=4096_u32))]
    slice: u32,
    /// Epochs between two evaluations on the validation window
    #[arg(long, value_name = "EPOCHS", default_value = "5", allow_negative_numbers = true, value_parser = number::whole(1..=u32::MAX))]
    every: u32,
    /// Minutes after which no further slice is begun; 0 only reports what is finished
    #[arg(long, allow_negative_numbers = true, value_parser = minutes)]
    minutes: Option<Duration>,
    /// Folder of slices and results: a new one, or one of the same comparison
    #[arg(long, value_name = "DIR", default_value = "compare/latest")]
    out: PathBuf,
    /// Other folders of the same comparison, whose slices count too
    #[arg(long, value_name = "DIR", num_args = 1..)]
    merge: Vec<PathBuf>,
}

/// Most members of a comparison.
const MEMBERS_MAX: u64 = 100_000;

fn members(s: &str) -> Result<Range<u64>, String> {
    let (from, to) = s.split_once("..").unwrap_or(("0", s));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if from < to && to <= MEMBERS_MAX => Ok(from..to),
        _ => Err(format!("give a number of members, or ids as 32..64, up to {MEMBERS_MAX}")),
    }
}

/// What members are trained on, and how they are scored.
struct Subject {
    config: Config,
    /// One, or those of instruments that share a policy.
    markets: Vec<Market>,
    /// Where slices and results go.
    out: PathBuf,
    /// Its name, where each of several instruments has members of its own.
    name: Option<String>,
    /// Log returns of the optimal policy on the validation and on the test window, where there is one.
    optimum: Option<[f64; 2]>,
}

pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    stop::listen("after this epoch, and forgetting its slice; finished ones are kept");
    place::check_reachable(&args.out)?;
    let start = Instant::now();
    for subject in subjects(args)? {
        if let Some(name) = &subject.name {
            say!("{name}")?;
        }
        of_subject(args, &subject, start)?;
    }
    Ok(())
}

fn of_subject(args: &CompareArgs, subject: &Subject, start: Instant) -> Result<(), Failure> {
    let regret = |window: &str, log_return: f64| {
        let [validation, test] = subject.optimum.unwrap_or([f64::NAN; 2]);
        let best = if window == "validation" { validation } else { test };
        (best - log_return) / best
    };
    let regret: Option<&RegretOf<'_>> = if subject.optimum.is_some() { Some(&regret) } else { None };
    let measure = if regret.is_some() { Measure::Regret } else { Measure::Sharpe };
    let own = Arm::of(&subject.config).ok_or_else(|| {
        Failure::Refused(
            "pairs of which anything is rounded to nearest are none of the arms: leave learn.weights or learn.rounding out".into(),
        )
    })?;
    let commit = foxhunt_bench::COMMIT.map(|commit| format!(" {commit}")).unwrap_or_default();
    let program = format!("foxhunt {}{commit}", env!("CARGO_PKG_VERSION"));
    let setting = Setting::new(&program, &subject.config, &subject.markets, measure, args.every);
    let fingerprint = setting.fingerprint()?;
    let folder = Folder::open(&subject.out, &setting)?;
    let merge: Vec<PathBuf> =
        args.merge.iter().map(|m| subject.name.iter().fold(m.clone(), |m, n| m.join(n))).collect();
    let mut arms = args.arms.clone();
    arms.sort_unstable();
    arms.dedup();
    let ids: Vec<u64> = args.members.clone().collect();
    let finished = folder.finished(&setting, &merge)?;
    let work = finished.missing(&arms, &ids, args.slice as usize);
    let task = Task {
        config: &subject.config,
        markets: &subject.markets,
        regret,
        every: args.every,
        fingerprint: &fingerprint,
    };
    let stopped = train(args, &folder, &task, &work, start)?;
    // Read again: what is reported is what the files say.
    let finished = folder.finished(&setting, &merge)?;
    let result = compare(&setting, own, &finished, &arms, &ids);
    place::write_json(&subject.out.join("compare.json"), &result)?;
    let page = subject.out.join("compare.html");
    write_whole(&page, render(&result)?.as_bytes())?;
    say(&result)?;
    say!("{}", page.display())?;
    match stopped {
        Some(signal) => Err(Failure::Stopped { signal }),
        None => Ok(()),
    }
}

/// What is compared: one subject, or one of each instrument where each has members of its own.
fn subjects(args: &CompareArgs) -> Result<Vec<Subject>, Failure> {
    let mut set: Vec<SetOption> = args.set.iter().map(|pair| SetOption::new("--set", pair, pair)).collect();
    set.extend(args.how.as_set());
    set.extend(args.seed.map(|s| SetOption::new("--seed", &format!("seed={s}"), &s.to_string())));
    set.extend(args.epochs.map(|e| SetOption::new("--epochs", &format!("epochs={e}"), &e.to_string())));
    let mut config = resolve(args.config.as_deref(), args.size, &set)?;
    let Some(name) = &args.market else {
        take_files(&mut config, &args.data)?;
        if config.walks() {
            return Err(Failure::Refused(
                "compare has one training, validation and test window: leave data.walk_forward out".into(),
            ));
        }
        let markets = Market::all(load_markets(&config)?, &config)?;
        if !config.lists_markets() || config.shares_policy() {
            return Ok(vec![Subject { config, markets, out: args.out.clone(), name: None, optimum: None }]);
        }
        let one = |(number, market): (usize, Market)| {
            let name = config.market_name(number).unwrap_or_default().to_owned();
            let (out, config) = (args.out.join(&name), config.of_market(number));
            Subject { config, markets: vec![market], out, name: Some(name), optimum: None }
        };
        return Ok(markets.into_iter().enumerate().map(one).collect());
    };
    let name = name.strip_prefix("known:").ok_or_else(|| {
        Failure::Unusable(format!(
            "--market {name}: name a market with a known optimum as known:NAME, or give --data"
        ))
    })?;
    if config.lists_markets() {
        return Err(Failure::Refused(
            "--market names one market, and data.markets lists others: leave one of them out".into(),
        ));
    }
    let known = KnownMarket::new(name, config.seed, Lengths::default())?;
    let config = known.config(config);
    let policy = known.policy(config.learn.gamma)?;
    let best = |window: TestWindow| -> Result<f64, Failure> {
        let played = known.play(&config, &window, "optimal policy", |z, w| policy.action(z, w))?;
        if played.log_return > 0.0 {
            return Ok(played.log_return);
        }
        Err(Failure::Unusable(format!(
            "the optimal policy earned {} on the {} window: choose another seed",
            played.log_return, window.name
        )))
    };
    let optimum = [best(TestWindow::validation(&known.market))?, best(TestWindow::test(&known.market))?];
    let out = args.out.clone();
    Ok(vec![Subject { config, markets: vec![known.market], out, name: None, optimum: Some(optimum) }])
}

/// Trains slice by slice; the signal that stopped it, if one did.
fn train(
    args: &CompareArgs,
    folder: &Folder,
    task: &Task<'_>,
    work: &[foxhunt_compare::Work],
    start: Instant,
) -> Result<Option<u8>, Failure> {
    let out_of_time = |start: &Instant| args.minutes.is_some_and(|m| start.elapsed() >= m);
    if work.is_empty() || out_of_time(&start) {
        return Ok(None);
    }
    let device = open(args.device)?;
    for (k, work) in work.iter().enumerate() {
        if out_of_time(&start) {
            note!("note: no further slice after {} minutes", start.elapsed().as_secs() / 60);
            break;
        }
        let (first, last) = (work.ids.first().unwrap_or(&0), work.ids.last().unwrap_or(&0));
        let mut watch = Watch {
            config: Config { population: work.ids.len(), ..task.config.clone() },
            progress: Progress::new(u64::from(task.config.epochs), 0),
        };
        let slice = run_slice(&device, task, work.arm, &work.ids, &folder.scratch(), &mut watch)?;
        watch.progress.finish();
        let Some(slice) = slice else { return Ok(stop::asked()) };
        folder.keep(&slice)?;
        note!(
            "slice {}: {}, members {first} to {last}, {:.1} s",
            k + 1,
            work.arm.label(),
            slice.timing.total_s
        );
        if stop::asked().is_some() {
            break;
        }
    }
    Ok(stop::asked())
}

struct Watch {
    config: Config,
    progress: Progress,
}

impl Control for Watch {
    fn epoch(&mut self, reports: &[EpochReport]) {
        self.progress.epoch(&self.config, reports, &[]);
    }

    fn stop(&mut self) -> bool {
        stop::asked().is_some()
    }
}

/// The result in a few lines.
fn say(result: &Comparison) -> Result<(), Failure> {
    for arm in &result.arms {
        let score = arm.summaries.first().and_then(|s| Some((s.quantity.label(), s.iqm?)));
        let text = score.map_or("no score".to_owned(), |(label, e)| {
            format!("{label} {:.4} [{:.4}, {:.4}]", e.value, e.low, e.high)
        });
        say!(
            "{:<16} {:>4} members  {text}{}",
            arm.arm.label(),
            arm.ids.len(),
            judged(result.score_of(arm.arm))
        )?;
    }
    for gap in &result.missing {
        let (first, last) = (gap.ids.first().unwrap_or(&0), gap.ids.last().unwrap_or(&0));
        say!(
            "{:<16} {:>4} members missing, {first} to {last}: the same command goes on",
            gap.arm.label(),
            gap.ids.len()
        )?;
    }
    say!("{}", result.because)
}

fn judged(difference: Option<&Difference>) -> String {
    let Some((d, e)) = difference.and_then(|d| Some((d, d.iqm?))) else { return String::new() };
    let verdict = d.verdict.map_or("", |v| v.name());
    let bound = d.bound.unwrap_or_default();
    format!("  to F32 {:+.4} [{:+.4}, {:+.4}], bound {bound:.4}: {verdict}", e.value, e.low, e.high)
}
