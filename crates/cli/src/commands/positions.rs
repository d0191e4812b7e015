//! Anyone's target exposures through the market's physics.

use super::{
    finish::Tested,
    report::{Paper, Written, write_paper},
};
use crate::Failure;
use foxhunt_backtest::{Backtest, Exposures};
use foxhunt_data::{Bars, Positions};
use std::{ops::Range, path::Path};

/// Targets before the first decision of a stretch, at its decisions, and after the last.
fn counts(positions: &Positions, rows: &Range<usize>) -> [usize; 3] {
    let (first, last) = (rows.start, rows.end - 1);
    let before = positions.targets.iter().filter(|(row, _)| *row < first).count();
    let after = positions.targets.iter().filter(|(row, _)| *row >= last).count();
    [before, positions.targets.len() - before - after, after]
}

fn moment(bars: &Bars, row: usize) -> String {
    foxhunt_data::show_moment(bars.close_ns[row])
}

/// Refuses targets of which none holds at any decision of these rows.
pub(crate) fn check(bars: &Bars, rows: &Range<usize>, positions: &Positions) -> Result<(), Failure> {
    let [before, inside, _] = counts(positions, rows);
    if inside > 0 || before > 0 {
        return Ok(());
    }
    let (name, line) = (&positions.name, positions.first_line);
    Err(Failure::Unusable(if rows.len() < 2 {
        format!(
            "{name}, line {line}: the first target is set at the close of the last bar of {}, and no bar follows in which it could \
             be traded: give bars that go on",
            bars.source.path
        )
    } else {
        format!(
            "{name}, line {line}: none of {} targets is set in time: decisions are made at the closes of {} to {}",
            positions.targets.len(),
            moment(bars, rows.start),
            moment(bars, rows.end - 2)
        )
    }))
}

/// Runs the targets, which [`check`] let pass, over the backtest's stretch and writes ledger and page.
pub(crate) fn run(
    backtest: &Backtest<'_>,
    positions: &Positions,
    out: &Path,
    run: Option<&Path>,
    config_text: &str,
) -> Result<Tested, Failure> {
    let rows = &backtest.window().rows;
    let (first, last) = (rows.start, rows.end - 1);
    let [before, inside, after] = counts(positions, rows);
    if before + after > 0 {
        note!(
            "note: {before} targets of {} lie before the first decision at {} (the last of them holds there) and {after} after \
             the last",
            positions.name,
            moment(&backtest.market().bars, first)
        );
    }
    let words = format!(
        "The targets are those of {} (SHA-256 {}), {inside} set in this stretch, each held until the next.",
        positions.name, positions.sha256
    );
    let given = Exposures::single(&positions.name, &words, positions.over(first..last));
    let ledger = backtest.exposures(&given)?;
    std::fs::create_dir_all(out).map_err(|e| Failure::file("make the folder", out, &e))?;
    let paper = Paper {
        folder: out,
        run,
        backtest,
        ledger: &ledger,
        chosen: None,
        given: Some(&given),
        folds: &[],
        config_text,
    };
    let late = given.delayed();
    let Written { text, baselines, stress } =
        write_paper(&paper, &mut |b| Ok(b.exposures(&given)?), &mut |b| Ok(b.exposures(&late)?))?;
    Ok(Tested { text, ledger, member: 0, chosen: positions.name.clone(), baselines, stress })
}
