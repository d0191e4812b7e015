//! Anyone's target exposures through the market's physics.

use super::{
    finish::Tested,
    report::{Paper, Written, write_paper},
};
use crate::Failure;
use foxhunt_backtest::{Backtest, Exposures};
use foxhunt_data::Positions;
use std::path::Path;

/// Runs the targets over the backtest's stretch and writes ledger and page.
pub(crate) fn run(
    backtest: &Backtest<'_>,
    positions: &Positions,
    out: &Path,
    run: Option<&Path>,
    config_text: &str,
) -> Result<Tested, Failure> {
    let rows = &backtest.window().rows;
    let (first, last) = (rows.start, rows.end - 1);
    let before = positions.targets.iter().filter(|(row, _)| *row < first).count();
    let after = positions.targets.iter().filter(|(row, _)| *row >= last).count();
    let inside = positions.targets.len() - before - after;
    let moment = |row: usize| foxhunt_data::show_moment(backtest.market().bars.close_ns[row]);
    if inside == 0 && before == 0 {
        return Err(Failure::Unusable(format!(
            "{}: none of {} targets is set in time: decisions are made at the closes of {} to {}",
            positions.name,
            positions.targets.len(),
            moment(first),
            moment(last - 1)
        )));
    }
    if before + after > 0 {
        note!(
            "note: {before} targets of {} lie before the first decision at {} (the last of them holds there) and {after} after \
             the last",
            positions.name,
            moment(first)
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
    let Written { text, baselines } =
        write_paper(&paper, &mut |b| b.exposures(&given), &mut |b| b.exposures(&late))?;
    Ok(Tested { text, ledger, member: 0, chosen: positions.name.clone(), baselines })
}
