use super::{
    figures::{Figures, metric, rows, shown},
    keys::{Keys, differing, keys},
    run::{Run, day_and_minute},
};
use crate::{
    Failure,
    commands::{columns::columns, place},
};
use clap::Args;
use foxhunt_data::show_moment;
use foxhunt_metrics::{Metric, Named, Spread, Unit, over_members};
use serde_json::{Map, Value, json};
use std::{fs, path::PathBuf};

/// Compare runs: what differs in their configurations, and their test figures with intervals
///
/// Each run beside the first. Figures are means over members with Student's 95 % interval; members with the same id in both
/// have the same seed, and their differences, paired, have an interval of their own. A mean is `of 2` where only two members
/// have the figure. It tells of other seeds on the same stretch of data, not of another stretch. Runs on other data or over
/// other test windows are said not to be comparable, and then nothing is paired.
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
        if run.figures.is_none() && run.markets.is_empty() {
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
    for table in tables([a, b]) {
        let (Some(x), Some(y)) = (table.of[0].figures, table.of[1].figures) else { continue };
        let of_name = table.name.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
        if x.sha256 != y.sha256 && why.is_empty() {
            why.push(format!("they were tested on other data{of_name}"));
        }
        if x.window != y.window {
            let of = |w: (i64, i64)| [w.0, w.1].map(|ns| day_and_minute(&show_moment(ns))).join(" to ");
            why.push(format!("their test windows{of_name} differ ({} and {})", of(x.window), of(y.window)));
        }
    }
    why
}

/// Figures that can stand beside one another: of runs with one instrument, or of one that several runs have.
struct Table<'a> {
    /// The instrument, where it has a name.
    name: Option<String>,
    /// Of each run.
    of: Vec<Tested<'a>>,
}

/// A run's figures of one instrument, if it has it, and the ids of the members that they are of.
struct Tested<'a> {
    figures: Option<&'a Figures>,
    ids: Vec<u64>,
}

impl Tested<'_> {
    fn all(&self, key: &str) -> Vec<Metric> {
        self.figures.map(|f| f.all(key)).unwrap_or_default()
    }
}

/// A table of the runs with one instrument, if there are any, and one of each named instrument.
fn tables<'a>(runs: impl IntoIterator<Item = &'a Run> + Clone) -> Vec<Table<'a>> {
    let mut names: Vec<Option<String>> = Vec::new();
    for run in runs.clone() {
        let plain = run.figures.iter().map(|_| None);
        let named = run.markets.iter().map(|(name, _)| Some(name.clone()));
        names.extend(plain.chain(named));
    }
    names.sort();
    names.dedup();
    let of = |name: &Option<String>, run: &'a Run| match name {
        None => Tested { figures: run.figures.as_ref(), ids: run.figure_ids() },
        Some(name) => {
            let found = run.markets.iter().find(|(own, _)| own == name);
            Tested { figures: found.map(|(_, f)| f), ids: run.figure_ids_of(name) }
        }
    };
    let table = |name: Option<String>| Table {
        of: runs.clone().into_iter().map(|run| of(&name, run)).collect(),
        name,
    };
    names.into_iter().map(table).collect()
}

/// What another run's figure is more, of members that both have.
fn paired(a: &Tested<'_>, b: &Tested<'_>, key: &str) -> Vec<Metric> {
    let (Some(x), Some(y)) = (a.figures, b.figures) else { return Vec::new() };
    let one = |(m, id): (usize, &u64)| {
        let other = b.ids.iter().position(|i| i == id)?;
        Some(metric(y.get(other, key).zip(x.get(m, key)).map(|(y, x)| y - x)))
    };
    a.ids.iter().enumerate().filter_map(one).collect()
}

/// A mean and its interval: `0.10 % [-0.20, 0.40]`, and no interval of one member; `of 2` where only two have a value.
fn spread(values: &[Metric], unit: Unit) -> String {
    let defined = values.iter().filter(|m| m.value().is_some()).count();
    let fewer = if (1..values.len()).contains(&defined) { format!(" of {defined}") } else { String::new() };
    let text = match (over_members(values), values.iter().find_map(|m| m.value())) {
        (Ok(s), _) => {
            let end = |x| shown(Some(x), unit).trim_end_matches([' ', '%', 'b', 'p']).to_owned();
            format!("{} [{}, {}]", shown(Some(s.mean), unit), end(s.low), end(s.high))
        }
        (Err(_), one) => shown(one, unit),
    };
    text + &fewer
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
    tables(runs).iter().try_for_each(|table| print_table(table, &letters, &comparable, all))
}

fn print_table(table: &Table<'_>, letters: &[String], comparable: &[bool], all: bool) -> Result<(), Failure> {
    let runs = &table.of;
    let of = table.name.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
    let mut titles = vec![format!("test window{of}, mean over members [95 %]")];
    titles.extend(letters.iter().cloned());
    let pairs: Vec<usize> = (1..runs.len())
        .filter(|i| comparable[*i] && !paired(&runs[0], &runs[*i], "total_return").is_empty())
        .collect();
    titles.extend(pairs.iter().map(|i| format!("{} - {}, paired", letters[*i], letters[0])));
    let mut lines = vec![titles];
    for named in rows(all) {
        let mut line = vec![named.label.to_owned()];
        line.extend(runs.iter().map(|r| spread(&r.all(named.key), named.unit)));
        line.extend(pairs.iter().map(|i| spread(&paired(&runs[0], &runs[*i], named.key), named.unit)));
        lines.push(line);
    }
    let mut count = vec!["Members".to_owned()];
    count.extend(runs.iter().map(|r| r.figures.map_or_else(|| "-".into(), |f| f.members().to_string())));
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
    let figures = |t: &Tested<'_>| -> Value {
        let one = |n: Named| (n.key.to_owned(), of(&t.all(n.key)));
        t.figures.map_or(Value::Null, |_| rows(true).into_iter().map(one).collect::<Map<_, _>>().into())
    };
    let pairs = |a: &Tested<'_>, b: &Tested<'_>| -> Value {
        let all = rows(true).into_iter().map(|n| (n.key.to_owned(), paired(a, b, n.key)));
        all.filter(|(_, values)| !values.is_empty())
            .map(|(key, values)| (key, of(&values)))
            .collect::<Map<_, _>>()
            .into()
    };
    let tables = tables(runs);
    // What each table has, under its instrument's name; of the one without a name by itself.
    let each = |what: &dyn Fn(&Table<'_>) -> Value| {
        let (mut plain, mut named) = (Value::Null, Map::new());
        for table in &tables {
            match &table.name {
                None => plain = what(table),
                Some(name) => drop(named.insert(name.clone(), what(table))),
            }
        }
        (plain, named)
    };
    let run = |(i, r): (usize, &Run)| {
        let (plain, named) = each(&|table| figures(&table.of[i]));
        let mut value = json!({ "run": names[i], "state": r.state, "figures": plain });
        if !named.is_empty() {
            value["instruments"] = named.into();
        }
        value
    };
    let against = |i: usize| {
        let why = unlike(&runs[0], &runs[i]);
        let (plain, named) = each(&|table| match why.is_empty() {
            true => pairs(&table.of[0], &table.of[i]),
            false => json!({}),
        });
        let plain = if plain.is_null() { json!({}) } else { plain };
        let mut value = json!({
            "run": names[i], "with": names[0], "comparable": why.is_empty(), "why_not": why, "paired": plain
        });
        if !named.is_empty() {
            value["instruments"] = named.into();
        }
        value
    };
    json!({
        "runs": runs.iter().enumerate().map(run).collect::<Vec<_>>(),
        "differs": differing.iter().map(|(key, values)| (key.clone(), json!(values))).collect::<Map<_, _>>(),
        "against_the_first": (1..runs.len()).map(against).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_metrics::Undefined;

    #[test]
    fn a_mean_of_fewer_says_so() {
        let (value, none) = (Metric::Value, Metric::Undefined(Undefined::NoTrades));
        assert_eq!(spread(&[value(1.0), value(1.0)], Unit::Ratio), "1.00 [1.00, 1.00]");
        assert_eq!(spread(&[value(1.0), none, value(1.0)], Unit::Ratio), "1.00 [1.00, 1.00] of 2");
        assert_eq!(spread(&[none, value(1.0)], Unit::Ratio), "1.00 of 1");
        assert_eq!(spread(&[none, none], Unit::Ratio), "-");
    }
}
