use super::{
    figures::{Figures, rows, shown},
    keys::from_defaults,
    list::as_json,
    run::{Run, day_and_minute, minute, size},
};
use crate::{
    Failure,
    commands::{
        columns::{bytes, columns},
        place,
        table::unsigned_zero,
    },
};
use clap::Args;
use foxhunt_checkpoint::{CHECKPOINTS, CONFIG, METRICS, RUN};
use foxhunt_core::DType;
use foxhunt_data::show_moment;
use foxhunt_train::Config;
use std::{fs, path::PathBuf};

/// Show one run: what its configuration changes, its windows, the choice of each member, test figures, files
///
/// A damaged run is shown as far as it can be read, with what is wrong.
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt runs show runs/first
  foxhunt runs show runs/first --all
  foxhunt runs show runs/first --json")]
pub(crate) struct ShowArgs {
    /// The run's folder
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Every metric, not a few
    #[arg(long)]
    all: bool,
    /// Print JSON, one object; with every metric
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ShowArgs) -> Result<(), Failure> {
    fs::read_dir(&args.run).map_err(|e| place::unreadable_folder(&args.run, &e))?;
    let run = Run::read(&args.run);
    // A damaged run is shown as far as it can be read; what has nothing of a run is none.
    if ![RUN, CONFIG, METRICS, CHECKPOINTS].iter().any(|name| args.run.join(name).exists()) {
        return Err(Failure::Unusable(run.problems.join("; ")));
    }
    let dtype = run.setting.as_ref().and_then(|s| s.dtype().ok());
    let changed = run.config.as_ref().map(|c| from_defaults(c, dtype)).transpose()?;
    if args.json {
        let mut value = as_json(&run);
        if let Some((size, rows)) = &changed {
            value["size"] = serde_json::json!(size);
            let one = |(key, values): &(String, Vec<String>)| (key.clone(), values[1].clone().into());
            value["changed"] = rows.iter().map(one).collect::<serde_json::Map<_, _>>().into();
        }
        return say!("{}", serde_json::to_string_pretty(&value)?);
    }
    say!("{}", text(&run, changed, args.all).trim_end())
}

type Rows = Vec<Vec<String>>;

fn text(run: &Run, changed: Option<super::keys::Changed>, all: bool) -> String {
    let mut out = columns(&head(run), 2);
    for problem in &run.problems {
        out.push_str(&format!("problem      {problem}\n"));
    }
    let mut section = |title: &str, rows: &Rows, left: usize| {
        if !rows.is_empty() {
            out.push_str(&format!("\n{title}\n"));
            columns(rows, left).lines().for_each(|line| out.push_str(&format!("  {line}\n")));
        }
    };
    if let Some((size, keys)) = changed {
        let name = serde_json::json!(size).as_str().unwrap_or_default().to_owned();
        let mut rows: Rows =
            keys.into_iter().map(|(key, v)| vec![key, v[1].clone(), format!("not {}", v[0])]).collect();
        if rows.is_empty() {
            rows.push(vec!["nothing".into()]);
        }
        section(&format!("configuration, where it differs from the defaults of size {name}"), &rows, 3);
    }
    if let Some(config) = &run.config {
        section("windows", &windows(config, run), 2);
    }
    section("selection, on the validation window", &selection(run), 0);
    section("test window, all costs included", &figures(run, all), 1);
    for few in run.markets.chunks(BESIDE) {
        section("test window of each instrument, all costs included", &beside(run, few, all), 1);
    }
    section("files", &files(run), 1);
    out
}

fn head(run: &Run) -> Rows {
    let pair = |a: &str, b: String| vec![a.to_owned(), b];
    let mut rows =
        vec![pair("run", run.path.display().to_string()), pair("state", run.state.name().to_owned())];
    if let Some(s) = &run.setting {
        if s.markets.is_empty() {
            rows.push(pair("data", format!("{}, {} bars, SHA-256 {}", s.data, s.bars, s.data_sha256)));
        }
        for m in &s.markets {
            let text = format!("{}: {}, {} bars, SHA-256 {}", m.name, m.data, m.bars, m.data_sha256);
            rows.push(pair("data", text));
        }
        let weights = match (&run.config, s.dtype()) {
            (Some(config), Ok(DType::Bf16)) => {
                format!(" with {} weights", config.storage(DType::Bf16).weights)
            }
            _ => String::new(),
        };
        rows.push(pair("device", format!("{}, {}{weights}, {}", s.device, s.dtype, s.program)));
    }
    if let Some(c) = &run.config {
        let of_each = match c.lists_markets() {
            true if c.shares_policy() => " of all instruments",
            true => " of each instrument",
            false => "",
        };
        rows.push(pair(
            "members",
            format!("{}{}, epochs {} of {}, seed {}", c.population, of_each, run.epochs, c.epochs, c.seed),
        ));
    }
    rows.push(pair("written", format!("{} to {} UTC", minute(run.began), minute(run.last))));
    rows
}

/// As they were asked for; the test window as it was.
fn windows(config: &Config, run: &Run) -> Rows {
    let data = &config.data;
    let pair = |a: &str, b: String| vec![a.to_owned(), b];
    let or =
        |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text.to_owned() };
    let (t, v) = (data.train_share, data.validation_share);
    let w = &data.walk_forward;
    let mut rows = if run.walks() {
        let training =
            if w.train_days > 0 { format!("{} days", w.train_days) } else { "all bars before".to_owned() };
        vec![
            pair(
                "folds",
                format!(
                    "{}, {} bars purged, {} bars of embargo",
                    w.folds,
                    config.purge_bars(),
                    w.embargo_bars
                ),
            ),
            pair("training", training),
            pair("validation", format!("{} days", w.validation_days)),
            pair("test", format!("{} days each", w.test_days)),
        ]
    } else if data.validation_from.is_empty() {
        let percent = |x: f64| format!("{:.1} % of the bars", 100.0 * x);
        vec![pair("training", percent(t)), pair("validation", percent(v)), pair("test", percent(1.0 - t - v))]
    } else {
        vec![
            pair(
                "training",
                format!("{} to {}", or(&data.train_from, "the first bar"), data.validation_from),
            ),
            pair("validation", format!("{} to {}", data.validation_from, data.test_from)),
            pair("test", format!("{} to {}", data.test_from, or(&data.test_to, "the last bar"))),
        ]
    };
    if let (Some(f), Some(last)) = (&run.figures, rows.last_mut()) {
        let [a, b] = [f.window.0, f.window.1].map(|ns| day_and_minute(&show_moment(ns)));
        last[1].push_str(&format!(": {a} to {b} UTC"));
    }
    rows
}

fn selection(run: &Run) -> Rows {
    let mut rows: Rows = Vec::new();
    if !run.choices.is_empty() {
        rows.push(["instrument", "fold", "member", "epoch", "of", "return", ""].map(str::to_owned).to_vec());
    }
    rows.extend(run.choices.iter().map(|c| {
        let chosen = if c.chosen { "chosen" } else { "" };
        let percent = unsigned_zero(format!("{:.2} %", 100.0 * c.validation_return));
        let fold = c.fold.map(|f| f.to_string()).unwrap_or_default();
        let number = run.config.as_ref().map_or(c.member, |config| config.number_of(c.member));
        vec![
            c.market.clone().unwrap_or_default(),
            fold,
            number.to_string(),
            c.epoch.to_string(),
            c.of.to_string(),
            percent,
            chosen.into(),
        ]
    }));
    // A column for runs that walk forward.
    if !run.walks() {
        rows.iter_mut().for_each(|row| drop(row.remove(1)));
    }
    // And one for instruments with members of their own.
    if run.choices.iter().all(|c| c.market.is_none()) {
        rows.iter_mut().for_each(|row| drop(row.remove(0)));
    }
    rows
}

/// The chosen member of each of several instruments.
fn beside(run: &Run, markets: &[(String, Figures)], all: bool) -> Rows {
    let title = |(name, _): &(String, Figures)| match run.chosen_of(name).0 {
        Some(number) => format!("{name}, member {number}"),
        None => name.clone(),
    };
    let mut lines = vec![[String::new()].into_iter().chain(markets.iter().map(title)).collect::<Vec<_>>()];
    for named in rows(all) {
        let cell = |(name, f): &(String, Figures)| shown(f.get(run.chosen_of(name).1, named.key), named.unit);
        lines.push([named.label.to_owned()].into_iter().chain(markets.iter().map(cell)).collect());
    }
    lines
}

/// Members beside one another up to so many; beyond it, the chosen one.
const BESIDE: usize = 6;

fn figures(run: &Run, all: bool) -> Rows {
    let Some(f) = &run.figures else { return Vec::new() };
    let ids = run.figure_ids();
    let chosen = run.chosen().map(|c| c.member);
    let members: Vec<usize> =
        (0..f.members()).filter(|m| f.members() <= BESIDE || ids.get(*m).copied() == chosen).collect();
    let label = |m: &usize| {
        let id = ids.get(*m).copied();
        if run.walks() {
            return "one account through all folds".to_owned();
        }
        format!("member {}{}", id.unwrap_or(*m as u64), if id.is_some() && id == chosen { " *" } else { "" })
    };
    let mut titles = vec![String::new()];
    titles.extend(members.iter().map(label));
    titles.extend(f.baselines.iter().map(|(name, _)| name.clone()));
    let mut lines = vec![titles];
    for named in rows(all) {
        let mut row = vec![named.label.to_owned()];
        row.extend(members.iter().map(|m| shown(f.get(*m, named.key), named.unit)));
        row.extend(f.baselines.iter().map(|(_, b)| shown(b[named.key].as_f64(), named.unit)));
        lines.push(row);
    }
    if chosen.is_some() {
        lines.push(vec!["* chosen on the validation window".into()]);
    }
    lines
}

fn files(run: &Run) -> Rows {
    let mut names: Vec<PathBuf> =
        fs::read_dir(&run.path).into_iter().flatten().flatten().map(|e| e.path()).collect();
    names.sort();
    let row = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        vec![if path.is_dir() { name + "/" } else { name }, bytes(size(&path))]
    };
    let mut rows: Rows = names.into_iter().map(row).collect();
    rows.push(vec!["all".into(), bytes(run.bytes)]);
    rows
}
