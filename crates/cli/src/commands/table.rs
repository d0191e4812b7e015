//! What the terminal shows of a backtest: a few metrics of every member beside the baselines, and what stress does.

use crate::Failure;
use foxhunt_ledger::{Ledger, reconcile};
use foxhunt_metrics::{Metric, Named, Series, Unit, over_members, summary};
use foxhunt_report::StressLine;

const SHOWN: [&str; 7] = [
    "total_return",
    "sharpe_bars",
    "max_drawdown_closes",
    "max_drawdown_worst",
    "turnover",
    "trip_count",
    "win_rate",
];

/// A metric as the terminal shows it.
fn value(metric: Metric, unit: Unit) -> String {
    match (metric, unit) {
        (Metric::Undefined(_), _) => "undefined".into(),
        (Metric::Value(x), Unit::Share) => format!("{:.2} %", 100.0 * x),
        (Metric::Value(x), Unit::Count) => format!("{x:.0}"),
        (Metric::Value(x), _) => format!("{x:.2}"),
    }
}

/// The metrics of each member.
fn summaries(ledger: &Ledger) -> Result<Vec<Vec<Named>>, Failure> {
    Ok(reconcile(ledger)?.members.iter().map(|lines| summary(&Series::new(ledger, lines))).collect())
}

/// Mean over members of those for which it is defined.
fn mean(members: &[Vec<Named>], key: &str) -> (Metric, Unit) {
    let figures: Vec<Named> = members.iter().flatten().filter(|n| n.key == key).copied().collect();
    let metrics: Vec<Metric> = figures.iter().map(|n| n.metric).collect();
    let first = metrics.iter().copied().find(|m| m.value().is_some()).or(metrics.first().copied());
    let one = first.unwrap_or(Metric::Undefined(foxhunt_metrics::Undefined::NoTrades));
    let unit = figures.first().map_or(Unit::Ratio, |n| n.unit);
    (over_members(&metrics).map_or(one, |spread| Metric::Value(spread.mean)), unit)
}

/// A member's label, and its metrics in the order of [`SHOWN`].
type Column = (String, Vec<String>);

/// A few metrics of every member beside the baselines, over a window of so many decisions. A baseline of several draws
/// stands with their mean.
pub(crate) fn table(ledger: &Ledger, baselines: &[Ledger], decisions: usize) -> Result<String, Failure> {
    let members = summaries(ledger)?;
    let mut columns: Vec<Column> = members
        .iter()
        .zip(&ledger.header.members)
        .map(|(named, info)| {
            let of = |key: &str| {
                named.iter().find(|n| n.key == key).map(|n| value(n.metric, n.unit)).unwrap_or_default()
            };
            (info.label.clone(), SHOWN.map(of).to_vec())
        })
        .collect();
    for baseline in baselines {
        let members = summaries(baseline)?;
        let name = baseline.header.baseline.clone().unwrap_or_default();
        let of = |key: &str| {
            let (metric, unit) = mean(&members, key);
            value(metric, unit)
        };
        columns.push((name, SHOWN.map(of).to_vec()));
    }
    let window = &ledger.header.window;
    let mut text = format!("{} window, {decisions} decisions, all costs included\n", window.name);
    let mut line = |first: &str, cells: &mut dyn Iterator<Item = &str>| {
        text.push_str(&format!("{first:<28}"));
        cells.for_each(|cell| text.push_str(&format!("{cell:>19}")));
        text.push('\n');
    };
    line("", &mut columns.iter().map(|(label, _)| label.as_str()));
    for (row, key) in SHOWN.iter().enumerate() {
        let label =
            members.first().and_then(|named| named.iter().find(|n| n.key == *key)).map_or("", |n| n.label);
        line(label, &mut columns.iter().map(|(_, cells)| cells[row].as_str()));
    }
    // Whoever was ruined has no more decisions: figures beside one another are then of stretches of different length.
    let made = |l: &Ledger, m: u32| l.bars_of(m).len().saturating_sub(1);
    let said = |made: usize| if made < decisions { format!("bar {made}") } else { "no".to_owned() };
    let agents = (0..ledger.members()).map(|m| said(made(ledger, m)));
    let others =
        baselines.iter().map(|l| said((0..l.members()).map(|m| made(l, m)).min().unwrap_or(decisions)));
    let ended: Vec<String> = agents.chain(others).collect();
    if ended.iter().any(|e| e != "no") {
        line("Ruined", &mut ended.iter().map(String::as_str));
    }
    Ok(text)
}

/// Total return under stress, means over members; two lines.
pub(crate) fn stress(lines: &[StressLine]) -> Result<String, Failure> {
    let mut parts = Vec::with_capacity(lines.len());
    for line in lines {
        let said = match &line.ledger {
            Ok(ledger) => {
                let (metric, unit) = mean(&summaries(ledger)?, "total_return");
                value(metric, unit)
            }
            Err(_) => "not run".to_owned(),
        };
        parts.push(format!("{} {said}", line.label.to_lowercase()));
    }
    Ok(if parts.is_empty() { String::new() } else { format!("total return at {}\n", parts.join(", ")) })
}
