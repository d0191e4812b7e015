//! A backtest on paper: the ledger, the page, and a few lines for the terminal.

use super::{
    finish::{LEDGER, REPORT},
    place,
};
use crate::Failure;
use foxhunt_backtest::{Backtest, buy_and_hold};
use foxhunt_ledger::{Ledger, reconcile};
use foxhunt_metrics::{Metric, Named, Series, Unit, summary};
use foxhunt_report::{EpochPoint, LearningCurve, ReportInput, write_report};
use foxhunt_train::EpochReport;
use std::{collections::BTreeMap, path::Path};

/// What is written, and where.
pub(crate) struct Paper<'a> {
    /// Where ledger and page go.
    pub(crate) folder: &'a Path,
    /// The run whose learning curves the page shows.
    pub(crate) run: &'a Path,
    pub(crate) backtest: &'a Backtest<'a>,
    pub(crate) ledger: &'a Ledger,
    pub(crate) config_text: &'a str,
}

/// Writes ledger and page; gives the lines for the terminal, to be printed when all is on disk.
pub(crate) fn write_paper(x: &Paper<'_>) -> Result<String, Failure> {
    let hold = x.backtest.strategy(&buy_and_hold(x.backtest.window()))?;
    x.ledger.write(&x.folder.join(LEDGER))?;
    let curves = learning_curves(&x.run.join("metrics.jsonl"))?;
    let baselines = [hold];
    let input =
        ReportInput { ledger: x.ledger, baselines: &baselines, curves: &curves, config_toml: x.config_text };
    let page = x.folder.join(REPORT);
    write_report(&page, &input)?;
    let table = table(x.ledger, &baselines[0], x.backtest.window().decisions())?;
    Ok(format!("{table}\nreport          {}", page.display()))
}

/// The lines of `metrics.jsonl`, by member.
fn learning_curves(path: &Path) -> Result<Vec<LearningCurve>, Failure> {
    let text = place::read(path)?;
    let mut members: BTreeMap<u32, Vec<EpochPoint>> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let r: EpochReport = serde_json::from_str(line)
            .map_err(|e| Failure::Unusable(format!("{} line {}: {e}", path.display(), number + 1)))?;
        // What an epoch could not say is left out of the chart.
        members.entry(r.member as u32).or_default().push(EpochPoint {
            epoch: r.epoch,
            loss: r.loss.unwrap_or(f64::NAN),
            episode_return: r.episode_return.unwrap_or(f64::NAN),
            epsilon: r.epsilon,
            edge_share: r.edge_share.unwrap_or(f64::NAN),
        });
    }
    Ok(members.into_iter().map(|(member, points)| LearningCurve { member, points }).collect())
}

/// A metric as the terminal shows it.
fn value(n: &Named) -> String {
    match (&n.metric, n.unit) {
        (Metric::Undefined(_), _) => "undefined".into(),
        (Metric::Value(x), Unit::Share) => format!("{:.2} %", 100.0 * x),
        (Metric::Value(x), Unit::Count) => format!("{x:.0}"),
        (Metric::Value(x), _) => format!("{x:.2}"),
    }
}

/// A member's label, and its metrics: each with its label.
type Column = (String, Vec<(String, String)>);

/// A few metrics of every member beside buy-and-hold, over a window of so many decisions.
fn table(ledger: &Ledger, hold: &Ledger, decisions: usize) -> Result<String, Failure> {
    const SHOWN: [&str; 6] =
        ["total_return", "sharpe_bars", "max_drawdown_closes", "turnover", "trip_count", "win_rate"];
    let columns = |ledger: &Ledger| -> Result<Vec<Column>, Failure> {
        let attribution = reconcile(ledger)?;
        Ok(attribution
            .members
            .iter()
            .map(|lines| {
                let rows = summary(&Series::new(ledger, lines))
                    .into_iter()
                    .filter(|n| SHOWN.contains(&n.key))
                    .map(|n| (n.label.to_string(), value(&n)))
                    .collect();
                (ledger.header.members[lines.member as usize].label.clone(), rows)
            })
            .collect())
    };
    let mut all = columns(ledger)?;
    all.extend(columns(hold)?);
    let window = &ledger.header.window;
    let mut text = format!("{} window, {decisions} decisions, all costs included\n", window.name);
    let mut line = |first: &str, cells: &mut dyn Iterator<Item = &String>| {
        text.push_str(&format!("{first:<28}"));
        cells.for_each(|cell| text.push_str(&format!("{cell:>16}")));
        text.push('\n');
    };
    line("", &mut all.iter().map(|(label, _)| label));
    for row in 0..all.first().map_or(0, |(_, rows)| rows.len()) {
        line(&all[0].1[row].0, &mut all.iter().map(|(_, rows)| &rows[row].1));
    }
    // Whoever was ruined has no more decisions: figures beside one another are then of stretches of different length.
    let ended: Vec<String> = [ledger, hold]
        .into_iter()
        .flat_map(|l| (0..l.members()).map(|m| l.bars_of(m).len().saturating_sub(1)))
        .map(|made| if made < decisions { format!("bar {made}") } else { "no".to_owned() })
        .collect();
    if ended.iter().any(|e| e != "no") {
        line("Ruined", &mut ended.iter());
    }
    Ok(text)
}
