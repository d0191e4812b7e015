//! What would do where shares of the bars leave a window too short. Whatever is suggested was tried.

use crate::TrainError;
use foxhunt_data::Bars;
use foxhunt_features::{FeatureError, Splits};
use std::ops::Range;

/// The refusal, with what would do; `first` is the first row that has all features in sight.
pub(crate) fn too_few(
    bars: &Bars,
    usable: &Range<usize>,
    first: usize,
    shares: (f64, f64),
    error: FeatureError,
) -> TrainError {
    let FeatureError::TooShort { window, rows, least } = error else { return error.into() };
    let (all, known) = (bars.len(), usable.len());
    let more = |rows: usize| (first + rows).saturating_sub(all);
    let fix = match (shares_for(known, least), rows_for(shares, least)) {
        (Some((train, own)), _) => {
            format!("set data.train_share={train} and data.validation_share={own}, or use more bars")
        }
        (None, Some(rows)) if rows > 3 * least => format!(
            "three windows of {least} need at least {} more bars, and with data.train_share={} and data.validation_share={} {} \
             more",
            more(3 * least),
            shares.0,
            shares.1,
            more(rows)
        ),
        _ => format!("three windows of {least} need at least {} more bars", more(3 * least)),
    };
    TrainError::Config {
        place: bars.source.path.clone(),
        what: format!(
            "has {all} bars, of which {known} have all features in sight, and the {window} window would have {rows} of them and \
             needs {least}: {fix}"
        ),
    }
}

/// Shares with the fewest digits that give each window of so many rows its least, validation and test alike; each was tried.
fn shares_for(rows: usize, least: usize) -> Option<(f64, f64)> {
    for digits in 2..=6 {
        let whole = 10_usize.pow(digits);
        let first = (whole * least).div_ceil(rows.max(1));
        let parts = |own: usize| Some((whole.checked_sub(2 * own).filter(|train| *train > 0)?, own));
        let found = (first..first + 3).filter_map(parts).find_map(|(train, own)| {
            let [train, own] = [train, own].map(|part| part as f64 / whole as f64);
            Splits::by_fraction(0..rows, train, own, least).is_ok().then_some((train, own))
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The fewest rows that these shares divide into three windows of `least`.
fn rows_for((train, validation): (f64, f64), least: usize) -> Option<usize> {
    const MOST: usize = 1 << 20;
    (3 * least..MOST).find(|rows| Splits::by_fraction(0..*rows, train, validation, least).is_ok())
}
