//! Where the columns are that are no part of a bar and were asked for.

use super::{columns::Columns, row::Row};
use crate::{error::DataError, load::LoadOptions, open::Origin};

const FIX: &str = "name columns that the file has, or give a file that has them: what an agent was trained on, it needs again";

/// Adds the columns that the options name, and takes them from those that are not used. `unread` are columns of a type that
/// is not read; `names` are the header's.
///
/// # Errors
/// A column that is not there, is twofold, or is a part of the bars already.
pub(super) fn locate(
    columns: &mut Columns,
    (names, width): (Option<&Row>, usize),
    unread: &[String],
    (origin, line): (&Origin, u64),
    options: &LoadOptions,
) -> Result<(), DataError> {
    let refuse = |problem: String, fix: &str| Err(DataError::line(&origin.path, line, problem, fix));
    let bars = used(columns);
    let free: Vec<usize> = (0..width).filter(|at| !bars.contains(at)).collect();
    for name in &options.extra {
        let at = match find(name, names, width) {
            Found::At(at) => at,
            Found::Twice => {
                return refuse(format!("has two columns named {name:?}"), "rename one of them");
            }
            Found::Nowhere if unread.iter().any(|u| u == name) => {
                let problem = format!("has a column {name:?} of a type that is not read");
                return refuse(problem, "write it as numbers, such as doubles");
            }
            Found::Nowhere => {
                let all: Vec<String> = free.iter().map(|&at| label(at, names)).collect();
                let others = if all.is_empty() { "no others".to_owned() } else { all.join(", ") };
                let problem = format!(
                    "has no column {name:?}, which --feature-columns (features.columns) names; beside its bars it has {others}"
                );
                return refuse(problem, FIX);
            }
        };
        if bars.contains(&at) {
            let problem = format!(
                "has {name:?}, which --feature-columns (features.columns) names, as a part of its bars"
            );
            let fix =
                "leave it out: features of time, prices and volume are built in (foxhunt features --list)";
            return refuse(problem, fix);
        }
        // Without a header the names of unused columns are the layout's, in order.
        let by_name = columns.unused.iter().position(|u| *u == label(at, names));
        let in_order = free.iter().position(|f| *f == at).filter(|_| names.is_none());
        if let Some(unused) = by_name.or(in_order).filter(|&u| u < columns.unused.len()) {
            columns.unused.remove(unused);
        }
        columns.extra.push(at);
    }
    Ok(())
}

enum Found {
    At(usize),
    Twice,
    Nowhere,
}

/// The column of this name: exact, else in other letters; or by its number.
fn find(name: &str, names: Option<&Row>, width: usize) -> Found {
    for same in [|a: &str, b: &str| a == b, |a: &str, b: &str| a.eq_ignore_ascii_case(b)] {
        let mut found = names.into_iter().flat_map(Row::cells).enumerate().filter(|(_, n)| same(n, name));
        match (found.next(), found.next()) {
            (Some((at, _)), None) => return Found::At(at),
            (Some(_), Some(_)) => return Found::Twice,
            (None, _) => {}
        }
    }
    let number = name.strip_prefix('#').and_then(|n| n.parse::<usize>().ok());
    number.filter(|n| (1..=width).contains(n)).map_or(Found::Nowhere, |n| Found::At(n - 1))
}

fn label(at: usize, names: Option<&Row>) -> String {
    match names.map(|n| n.cell(at)) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("#{}", at + 1),
    }
}

/// What the bars are made of.
fn used(columns: &Columns) -> Vec<usize> {
    let single = [Some(columns.stamp), columns.time_of_day, columns.symbol, columns.volume];
    let prices = columns.bid.into_iter().chain(columns.ask.into_iter().flatten());
    single.into_iter().flatten().chain(prices).collect()
}
