use super::{
    figures::{metric, rows, shown},
    keys::{Keys, differing, keys},
    run::{Run, day_and_minute},
};
use crate::{
    Failure,
    commands::{columns::columns, place},
};
use clap::Args;
use foxhunt_data::show_moment;
use foxhunt_metrics::{Metric, Spread, Unit, over_members};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

/// Compare runs: what differs in their configurations, and their test figures with intervals
///
/// Each run beside the first. Figures are means over members with Student's 95 % interval; members with the same id in both
/// have the same seed, and their differences, paired, have an interval of their own. It tells of other seeds on the same
/// stretch of data, not of another stretch. Runs on other data or over other test windows are said not to be comparable, and
/// then nothing is paired.
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt runs compare runs/first runs/second
  foxhunt runs compare runs/first runs/second runs/third --all
  foxhunt runs compare runs/first runs/second --json")]
pub(crate) struct CompareArgs {
    /// Two runs or more; the others are compared with the first
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// Every metric, not a few
    #[arg(long)]
    all: bool,
    /// Print JSON, one object; with every metric
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let mut runs = Vec::new();
    for path in &args.runs {
        fs::read_dir(path).map_err(|e| place::unreadable_folder(path, &e))?;
        let run = Run::read(path);
        if run.config.is_none() {
            return Err(Failure::Unusable(run.problems.join("; ")));
        }
        for problem in &run.problems {
            note!("note: {}: {problem}", path.display());
        }
        if run.lists_markets() {
            note!(
                "note: {0} has several instruments, whose figures are not compared here: {0}/NAME/figures.json has them",
                path.display()
            );
        } else if run.figures.is_none() {
            note!(
                "note: {0} has no test figures yet: finish it with foxhunt train --resume {0}",
                path.display()
            );
        }
        runs.push(run);
    }
    let all: Vec<Keys> = runs.iter().map(own_keys).collect::<Result<_, Failure>>()?;
    let rows = differing(&all);
    if args.json {
        say!("{}", serde_json::to_string_pretty(&as_json(&runs, &rows))?)
    } else {
        print(&runs, rows, args.all)
    }
}

/// Configuration and setting of a run. Who its members are is told by their figures.
fn own_keys(run: &Run) -> Result<Keys, Failure> {
    let mut own = run.config.as_ref().map(keys).transpose()?.unwrap_or_default();
    if let Some(s) = &run.setting {
        for (key, value) in [
            ("(data)", s.data.clone()),
            ("(data's SHA-256)", s.data_sha256.chars().take(12).collect()),
            ("(bars)", s.bars.to_string()),
            ("(device)", s.device.clone()),
            ("(dtype)", s.dtype.clone()),
            ("(program)", s.program.clone()),
        ] {
            own.insert(key.to_owned(), value);
        }
    }
    Ok(own)
}

/// Why the figures of two runs can't be held against one another.
fn unlike(a: &Run, b: &Run) -> Vec<String> {
    let mut why = Vec::new();
    if a.walks() != b.walks() {
        why.push("only one of them walks forward".to_owned());
    }
    let data = |r: &Run| r.setting.as_ref().map(|s| (s.data_sha256.clone(), s.bars, s.markets.clone()));
    if let (Some(x), Some(y)) = (data(a), data(b))
        && x != y
    {
        why.push("they were trained on other data".to_owned());
    }
    if let (Some(x), Some(y)) = (&a.figures, &b.figures) {
        if x.sha256 != y.sha256 && why.is_empty() {
            why.push("they were tested on other data".into());
        }
        if x.window != y.window {
            let of = |w: (i64, i64)| [w.0, w.1].map(|ns| day_and_minute(&show_moment(ns))).join(" to ");
            why.push(format!("their test windows differ ({} and {})", of(x.window), of(y.window)));
        }
    }
    why
}

/// What another run's figure is more, of members that both have.
fn paired(a: &Run, b: &Run, key: &str) -> Vec<Metric> {
    let (Some(x), Some(y)) = (&a.figures, &b.figures) else { return Vec::new() };
    let (ours, theirs) = (a.figure_ids(), b.figure_ids());
    let one = |(m, id): (usize, &u64)| {
        let other = theirs.iter().position(|i| i == id)?;
        Some(metric(y.get(other, key).zip(x.get(m, key)).map(|(y, x)| y - x)))
    };
    ours.iter().enumerate().filter_map(one).collect()
}

/// A mean and its interval: `0.10 % [-0.20, 0.40]`, and no interval of one member.
fn spread(values: &[Metric], unit: Unit) -> String {
    match (over_members(values), values.iter().find_map(|m| m.value())) {
        (Ok(s), _) => {
            let end = |x| shown(Some(x), unit).trim_end_matches(" %").to_owned();
            format!("{} [{}, {}]", shown(Some(s.mean), unit), end(s.low), end(s.high))
        }
        (Err(_), one) => shown(one, unit),
    }
}

fn print(runs: &[Run], differing: Vec<(String, Vec<String>)>, all: bool) -> Result<(), Failure> {
    let letter = |i: usize| char::from_u32('A' as u32 + i as u32).filter(char::is_ascii_uppercase);
    let letter = |i: usize| letter(i).map_or_else(|| format!("#{i}"), |c| c.to_string());
    let letters: Vec<String> = (0..runs.len()).map(letter).collect();
    for (run, letter) in runs.iter().zip(&letters) {
        say!("{letter}  {}  {}", run.path.display(), run.state.name())?;
    }
    let mut comparable = vec![true; runs.len()];
    for (i, run) in runs.iter().enumerate().skip(1) {
        let why = unlike(&runs[0], run);
        if !why.is_empty() {
            comparable[i] = false;
            say!(
                "warning: figures of {} and {} are not comparable: {}",
                letters[0],
                letters[i],
                why.join("; ")
            )?;
        }
    }
    say!("")?;
    if differing.is_empty() {
        say!("their configurations are the same")?;
    } else {
        let mut rows = vec![[&["differs".to_owned()], &letters[..]].concat()];
        rows.extend(differing.into_iter().map(|(key, values)| [vec![key], values].concat()));
        say!("{}", columns(&rows, rows[0].len()).trim_end())?;
    }
    if runs.iter().all(|r| r.figures.is_none()) {
        return Ok(());
    }
    let mut titles = vec!["test window, mean over members [95 %]".to_owned()];
    titles.extend(letters.iter().cloned());
    let pairs: Vec<usize> = (1..runs.len())
        .filter(|i| comparable[*i] && !paired(&runs[0], &runs[*i], "total_return").is_empty())
        .collect();
    titles.extend(pairs.iter().map(|i| format!("{} - {}, paired", letters[*i], letters[0])));
    let mut lines = vec![titles];
    for named in rows(all) {
        let own = |r: &Run| r.figures.as_ref().map(|f| f.all(named.key)).unwrap_or_default();
        let mut line = vec![named.label.to_owned()];
        line.extend(runs.iter().map(|r| spread(&own(r), named.unit)));
        line.extend(pairs.iter().map(|i| spread(&paired(&runs[0], &runs[*i], named.key), named.unit)));
        lines.push(line);
    }
    let mut count = vec!["Members".to_owned()];
    count.extend(
        runs.iter().map(|r| r.figures.as_ref().map_or_else(|| "-".into(), |f| f.members().to_string())),
    );
    count.extend(pairs.iter().map(|i| paired(&runs[0], &runs[*i], "total_return").len().to_string()));
    lines.push(count);
    say!("\n{}", columns(&lines, 1).trim_end())
}

fn as_json(runs: &[Run], differing: &[(String, Vec<String>)]) -> Value {
    let names: Vec<String> = runs.iter().map(|r| r.path.display().to_string()).collect();
    let interval = |s: Spread| json!({ "members": s.members, "defined": s.defined, "mean": s.mean, "low": s.low, "high": s.high });
    // One member has a value and no interval.
    let of = |values: &[Metric]| match over_members(values) {
        Ok(s) => interval(s),
        Err(_) => json!({ "members": values.len(), "mean": values.iter().find_map(|m| m.value()) }),
    };
    let figures = |r: &Run| -> Value {
        let Some(f) = &r.figures else { return Value::Null };
        rows(true)
            .iter()
            .map(|n| (n.key.to_owned(), of(&f.all(n.key))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let against = |i: usize| {
        let why = unlike(&runs[0], &runs[i]);
        let pairs: serde_json::Map<_, _> = rows(true)
            .iter()
            .filter(|_| why.is_empty())
            .map(|n| (n.key.to_owned(), paired(&runs[0], &runs[i], n.key)))
            .filter(|(_, values)| !values.is_empty())
            .map(|(key, values)| (key, of(&values)))
            .collect();
        json!({ "run": names[i], "with": names[0], "comparable": why.is_empty(), "why_not": why, "paired": pairs })
    };
    json!({
        "runs": runs.iter().zip(&names).map(|(r, name)| json!({ "run": name, "state": r.state, "figures": figures(r) })).collect::<Vec<_>>(),
        "differs": differing.iter().map(|(key, values)| (key.clone(), json!(values))).collect::<serde_json::Map<_, _>>(),
        "against_the_first": (1..runs.len()).map(against).collect::<Vec<_>>(),
    })
}
