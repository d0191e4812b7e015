use super::{
    figures::shown,
    keys::keys,
    run::{Run, State, find, minute},
};
use crate::{
    Failure,
    commands::columns::{bytes, columns, length},
};
use clap::{Args, ValueEnum};
use foxhunt_metrics::Unit;
use foxhunt_train::{Config, Size, nearest_key};
use serde_json::{Value, json};
use std::{cmp::Ordering, io::IsTerminal, path::PathBuf};

/// List the runs of a folder: state, data, members, the chosen member with its figures, time, size on disk
///
/// A run is stopped where train --resume goes on with it, running where a process holds its lock, and broken where a file is
/// not as foxhunt wrote it; why stands below the table. Validation is the chosen member's return on the validation window,
/// return and Sharpe (per bar) are its figures on the test window, after costs.
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt runs list
  foxhunt runs list experiments --sort sharpe --reverse
  foxhunt runs list --state stopped,broken
  foxhunt runs list --where learn.gamma=0.99 --data eurusd --json")]
pub(crate) struct ListArgs {
    /// The folder; runs in folders below it are found too
    #[arg(value_name = "DIR", default_value = "runs")]
    folder: PathBuf,
    /// Only runs in these states
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    state: Vec<State>,
    /// Only runs whose data has a name that contains this, in whatever case
    #[arg(long, value_name = "TEXT")]
    data: Option<String>,
    /// Only runs whose configuration says this: learn.gamma=0.99
    #[arg(long = "where", value_name = "KEY=VALUE")]
    whose: Vec<String>,
    /// In which order
    #[arg(long, value_name = "COLUMN", default_value = "name")]
    sort: Sort,
    /// The other way round; runs without a value stay last
    #[arg(long)]
    reverse: bool,
    /// Print JSON, one array
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sort {
    Name,
    State,
    Data,
    Epochs,
    Validation,
    Return,
    Sharpe,
    Time,
    Size,
}

pub(super) fn run(args: &ListArgs) -> Result<(), Failure> {
    let mut runs: Vec<Run> = find(&args.folder)?.iter().map(|path| Run::read(path)).collect();
    let all = runs.len();
    for pair in &args.whose {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            Failure::Unusable(format!("--where {pair} is not of the form key=value: write learn.gamma=0.99"))
        })?;
        let (key, value) = (key.trim(), value.trim().trim_matches('"'));
        if !keys(&Config::of(Size::Small))?.contains_key(key) {
            let near = nearest_key(key);
            let near = near.map(|k| format!("; did you mean {k}?")).unwrap_or_default();
            return Err(Failure::Unusable(format!(
                "--where {pair}: there is no key '{key}' in a configuration{near}"
            )));
        }
        runs.retain(|run| says(run, key, value));
    }
    runs.retain(|run| args.state.is_empty() || args.state.contains(&run.state));
    if let Some(text) = &args.data {
        let text = text.to_lowercase();
        runs.retain(|run| run.data().is_some_and(|name| name.to_lowercase().contains(&text)));
    }
    sort(&mut runs, args.sort, args.reverse);
    if args.json {
        return say!("{}", serde_json::to_string_pretty(&runs.iter().map(as_json).collect::<Vec<_>>())?);
    }
    if runs.is_empty() {
        let folder = args.folder.display();
        return match all {
            0 => say!(
                "no runs in {folder}; make one with foxhunt train --out {}",
                args.folder.join("first").display()
            ),
            n => say!("none of the {n} runs in {folder} is what was asked for"),
        };
    }
    say!("{}", table(&runs, width()).trim_end())?;
    let mut broken = runs.iter().filter(|r| !r.problems.is_empty()).peekable();
    if broken.peek().is_some() {
        say!("")?;
    }
    for run in broken {
        say!("{}: {}", run.path.display(), run.problems.join("; "))?;
    }
    Ok(())
}

/// Whether a run's configuration has this value: as a number where both are numbers.
fn says(run: &Run, key: &str, value: &str) -> bool {
    let Some(own) = run.config.as_ref().and_then(|c| keys(c).ok()?.remove(key)) else { return false };
    match (own.parse::<f64>(), value.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => own.trim_matches('"') == value,
    }
}

fn sort(runs: &mut [Run], by: Sort, reverse: bool) {
    // Equal runs keep the order of their paths, and those without a value stay last.
    let numbers = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) if reverse => b.total_cmp(&a),
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    let turned = |order: Ordering| if reverse { order.reverse() } else { order };
    runs.sort_by(|a, b| match by {
        Sort::Name => turned(a.path.cmp(&b.path)),
        Sort::State => turned(a.state.cmp(&b.state)),
        Sort::Data => turned(a.data().cmp(&b.data())),
        Sort::Epochs => turned(a.epochs.cmp(&b.epochs)),
        Sort::Time => turned(a.last.cmp(&b.last)),
        Sort::Size => turned(a.bytes.cmp(&b.bytes)),
        Sort::Validation => {
            let of = |r: &Run| r.chosen().map(|c| c.validation_return);
            numbers(of(a), of(b))
        }
        Sort::Return => numbers(a.chosen_figure("total_return"), b.chosen_figure("total_return")),
        Sort::Sharpe => numbers(a.chosen_figure("sharpe_bars"), b.chosen_figure("sharpe_bars")),
    });
}

/// Columns of the terminal, if standard output is one.
fn width() -> Option<usize> {
    let size = || ratatui::crossterm::terminal::size().ok().map(|(columns, _)| columns.into());
    std::io::stdout().is_terminal().then(size).flatten()
}

/// Titles, and which columns a terminal that is too narrow goes without, first to last.
const TITLES: [&str; 13] = [
    "run",
    "state",
    "data",
    "device",
    "dtype",
    "members",
    "epochs",
    "chosen",
    "validation",
    "return",
    "Sharpe",
    "last written",
    "size",
];
const DROPPED: [&str; 9] =
    ["device", "dtype", "size", "last written", "members", "data", "chosen", "epochs", "validation"];

fn table(runs: &[Run], width: Option<usize>) -> String {
    let dash = || "-".to_owned();
    let row = |r: &Run| -> Vec<String> {
        let config = r.config.as_ref();
        let of = |x: Option<&str>| x.map_or_else(dash, str::to_owned);
        vec![
            r.path.display().to_string(),
            r.state.name().into(),
            cut(&r.data().unwrap_or_else(dash), 28),
            cut(&of(r.setting.as_ref().map(|s| s.device.as_str())), 16),
            of(r.setting.as_ref().map(|s| s.dtype.as_str())),
            config.map_or_else(dash, |c| c.population.to_string()),
            config.map_or_else(dash, |c| format!("{}/{}", r.epochs, c.epochs)),
            match config.filter(|c| c.walks() || c.lists_markets()) {
                Some(c) if c.lists_markets() => format!("{} instruments", c.markets()),
                Some(c) => format!("{} folds", c.folds()),
                None => r.chosen().map_or_else(dash, |c| format!("{} at {}", c.member, c.epoch)),
            },
            shown(r.chosen().map(|c| c.validation_return), Unit::Share),
            shown(r.chosen_figure("total_return"), Unit::Share),
            shown(r.chosen_figure("sharpe_bars"), Unit::Ratio),
            minute(r.last),
            bytes(r.bytes),
        ]
    };
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(runs.iter().map(row));
    let left = |rows: &[Vec<String>]| {
        rows[0].iter().take_while(|title| !["members", "epochs"].contains(&title.as_str())).count()
    };
    let mut dropped = DROPPED.iter();
    loop {
        let text = columns(&rows, left(&rows).min(5));
        let fits = width.is_none_or(|w| text.lines().all(|line| length(line) <= w));
        let Some(title) = dropped.next().filter(|_| !fits) else { return text };
        if let Some(at) = rows[0].iter().position(|t| t == title) {
            rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
    }
}

/// A text of at most `most` characters.
fn cut(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// A run for programs: null for what it doesn't have.
pub(super) fn as_json(run: &Run) -> Value {
    let config = run.config.as_ref();
    let setting = run.setting.as_ref();
    let ids = run.ids();
    let test: Vec<Value> = run.figures.iter().flat_map(|f| (0..f.members()).map(|m| f.raw(m))).collect();
    let of = |c: &crate::commands::finish::Choice| {
        let at = ids.iter().position(|id| *id == c.member).filter(|_| !run.walks());
        json!({ "market": c.market, "fold": c.fold, "member": c.member, "epoch": c.epoch, "of_epochs": c.of, "chosen": c.chosen,
                "validation_return": c.validation_return, "test": at.and_then(|m| test.get(m)) })
    };
    let seconds = |t: Option<std::time::SystemTime>| {
        t.and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok()).map(|d| d.as_secs())
    };
    json!({
        "run": run.path.display().to_string(),
        "state": run.state,
        "problems": run.problems,
        "data": run.data(),
        "data_sha256": setting.map(|s| &s.data_sha256),
        "bars": setting.map(|s| s.bars),
        "program": setting.map(|s| &s.program),
        "device": setting.map(|s| &s.device),
        "dtype": setting.map(|s| &s.dtype),
        "members": ids,
        "epochs_done": run.epochs,
        "epochs": config.map(|c| c.epochs),
        "selection": run.choices.iter().map(of).collect::<Vec<_>>(),
        "markets": run.markets.iter().map(|(name, f)| (name.clone(), f.raw(run.chosen_of(name).1)))
            .collect::<serde_json::Map<_, _>>(),
        "through_all_folds": run.figures.as_ref().filter(|_| run.walks()).map(|f| f.raw(0)),
        "test_window_ns": run.figures.as_ref().map(|f| [f.window.0, f.window.1]),
        "began_unix_s": seconds(run.began),
        "last_written_unix_s": seconds(run.last),
        "bytes": run.bytes,
    })
}
