//! A backtest on paper: the ledger, the page, and a few lines for the terminal.

use super::{
    finish::{FIGURES, LEDGER, REPORT},
    place, stop, table,
};
use crate::Failure;
use foxhunt_backtest::{Backtest, Exposures, Rerun, baselines, stress};
use foxhunt_checkpoint::METRICS;
use foxhunt_ledger::Ledger;
use foxhunt_report::{EpochPoint, LearningCurve, PartLine, ReportInput, StressLine, figures, write_report};
use foxhunt_train::EpochReport;
use std::{collections::BTreeMap, path::Path};

/// What is written, and where.
pub(crate) struct Paper<'a> {
    /// Where ledger and page go.
    pub(crate) folder: &'a Path,
    /// The run whose learning curves the page shows.
    pub(crate) run: Option<&'a Path>,
    pub(crate) backtest: &'a Backtest<'a>,
    pub(crate) ledger: &'a Ledger,
    /// Index of the member that the validation window chose, where it did.
    pub(crate) chosen: Option<u32>,
    /// The targets that are the ledger's policy, where they were given.
    pub(crate) given: Option<&'a Exposures>,
    /// The folds that the ledger's decisions come from; none where it has members of its own.
    pub(crate) folds: &'a [PartLine],
    pub(crate) config_text: &'a str,
}

/// What was written, as far as others go on with it.
pub(crate) struct Written {
    /// Lines for the terminal, to be printed when all is on disk.
    pub(crate) text: String,
    /// Buy and hold first.
    pub(crate) baselines: Vec<Ledger>,
    /// The policy under stress.
    pub(crate) stress: Vec<StressLine>,
}

/// Writes ledger, page and figures. `again` is the
/// policy of the ledger, to be run under stress; `late` what it decided, a bar late. A signal that asked to stop does so before
/// the next of these backtests or the page.
pub(crate) fn write_paper(
    x: &Paper<'_>,
    again: &mut Rerun<'_, Failure>,
    late: &mut Rerun<'_, Failure>,
) -> Result<Written, Failure> {
    stop::here()?;
    let baselines = baselines(x.backtest, x.ledger, x.given)?;
    let mut again = |b: &Backtest<'_>| stop::here().and_then(|()| again(b));
    let mut late = |b: &Backtest<'_>| stop::here().and_then(|()| late(b));
    let stress: Vec<StressLine> = stress(x.backtest, x.ledger, &mut again, &mut late)?
        .into_iter()
        .map(|line| StressLine {
            key: line.key.to_owned(),
            label: line.label.to_owned(),
            again: line.again,
            ledger: line.ledger,
        })
        .collect();
    stop::here()?;
    x.ledger.write(&x.folder.join(LEDGER))?;
    let curves = match x.run {
        Some(run) => learning_curves(run, x.ledger)?,
        None => Vec::new(),
    };
    let input = ReportInput {
        ledger: x.ledger,
        chosen: x.chosen,
        baselines: &baselines,
        stress: &stress,
        folds: x.folds,
        curves: &curves,
        config_toml: x.config_text,
    };
    let page = x.folder.join(REPORT);
    write_report(&page, &input)?;
    stop::here()?;
    place::write_json(&x.folder.join(FIGURES), &figures(&input)?)?;
    let decisions = x.backtest.window().decisions();
    let table = table::table(x.ledger, &baselines, decisions)?;
    let under = table::stress(&stress)?;
    Ok(Written { text: format!("{table}{under}\nreport          {}", page.display()), baselines, stress })
}

/// The lines of a run's `metrics.jsonl`.
pub(crate) fn read_metrics(run: &Path) -> Result<Vec<EpochReport>, Failure> {
    let path = run.join(METRICS);
    let text = place::read(&path)?;
    let line = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|e| foxhunt_core::plain_words(&e.to_string())).map_err(|e| {
            let (file, run) = (path.display(), run.display());
            Failure::Unusable(format!(
                "{file} line {}: {e}; restore it with foxhunt train --resume {run}",
                number + 1
            ))
        })
    };
    text.lines().enumerate().map(line).collect()
}

/// The metrics of a run, by member of the ledger; those of other members are left out.
fn learning_curves(run: &Path, ledger: &Ledger) -> Result<Vec<LearningCurve>, Failure> {
    let mut members: BTreeMap<u32, Vec<EpochPoint>> = BTreeMap::new();
    for r in read_metrics(run)? {
        let Some(member) = ledger.header.members.iter().position(|m| m.id == r.id) else { continue };
        // What an epoch could not say is left out of the chart.
        members.entry(member as u32).or_default().push(EpochPoint {
            epoch: r.epoch,
            loss: r.loss.unwrap_or(f64::NAN),
            episode_return: r.episode_return.unwrap_or(f64::NAN),
            epsilon: r.epsilon,
            temperature: r.temperature,
            edge_share: r.edge_share.unwrap_or(f64::NAN),
        });
    }
    Ok(members.into_iter().map(|(member, points)| LearningCurve { member, points }).collect())
}
