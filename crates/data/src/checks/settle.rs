//! What a survey of all rows comes to: grid, bar length, sides, and what is repaired.

use super::{Intake, Survey, Understood, prices, times};
use crate::{
    error::DataError,
    heading::Heading,
    load::LoadOptions,
    source::{Basis, SourceInfo, StampSide},
};

/// What is to be done with each row.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    /// What holds for all bars.
    pub(crate) heading: Heading,
    /// Units of the final grid in one of the rows'.
    pub(super) scale: i32,
    pub(super) bar_ns: i64,
}

/// Settles what the rows say; the order of steps matters: time first, for gaps decide about opens.
pub(super) fn settle(
    survey: Survey,
    mut all: Intake,
    understood: Understood,
    options: &LoadOptions,
    sha256: String,
) -> Result<Settled, DataError> {
    if let Some(fault) = survey.fault {
        return Err(fault);
    }
    let path = all.path.as_str();
    let side = options.stamp_side.map(|side| (side, Basis::Given)).or(understood.stamp_side);
    let times = survey.steps.settle(path, side)?;
    let mut instrument = all.instrument.clone();
    let refined = survey.is_quote && (survey.any_odd || instrument.tick_units % 2 != 0);
    if refined {
        instrument = prices::refined(path, &instrument, survey.highest)?;
    }
    let scale = if refined { 2 } else { 1 };
    let opens_at_previous_close = survey.opens_at_close;
    let synthetic_opens = prices::is_synthetic(opens_at_previous_close, survey.rows);
    if let Some((low, line)) = survey.lowest {
        prices::check_fit(path, &instrument, low * scale, line)?;
    }
    // A column of zeros says that nobody counted, not that nobody traded; a column of empty cells says nothing.
    let has_volume = all.volume_said && (survey.counted || all.repairs.volumes_below_lot > 0);
    for (name, seen) in understood.extra.iter().zip(&survey.extra) {
        if !seen.any {
            let problem = format!("has no value at all in its column {name:?}");
            let fix =
                "leave it out of --feature-columns (features.columns), or give a file that has values there";
            return Err(DataError::file(path, problem, fix));
        }
        all.repairs.values_held += seen.missing;
    }
    let repairs = &mut all.repairs;
    if !all.volume_said {
        repairs.volumes_missing = 0;
    }
    repairs.times_trimmed = times.shorter;
    repairs.opens_replaced = if synthetic_opens { times.longer } else { 0 };
    repairs.grid_refined = refined;
    repairs.duplicates_dropped = survey.repeated;
    repairs.reversed = all.falls > 0 && all.rises == 0;
    repairs.steps_back = if repairs.reversed { 0 } else { all.falls };
    let (first, last) = survey.stamps;
    let span_ns = match times.side {
        StampSide::Open => (first, last.saturating_add(times.bar_ns)),
        StampSide::Close => (first.saturating_sub(times.bar_ns), last),
    };
    let (jumps, edges) = survey.jumps.finish(path, |before, stamp| match times.side {
        StampSide::Open => stamp,
        StampSide::Close => before.unwrap_or(i64::MIN).max(stamp.saturating_sub(times.bar_ns)),
    });
    let source = SourceInfo {
        path: path.to_owned(),
        sha256,
        format: understood.format,
        stamp_format: understood.stamp_format,
        stamp_side: times.side,
        stamp_side_basis: times.basis,
        time_zone: understood.time_zone.0,
        time_zone_basis: understood.time_zone.1,
        bar_seconds: times.bar_ns.div_euclid(times::SECOND).max(1),
        rows_read: all.rows_read,
        columns: understood.columns,
        columns_unused: understood.columns_unused,
        notes: understood.notes,
        opens_at_previous_close,
        synthetic_opens,
        jumps,
        edges,
        repairs: all.repairs,
    };
    let extra = understood.extra;
    let rows = usize::try_from(survey.rows).unwrap_or(usize::MAX);
    let heading = Heading { instrument, source, rows, span_ns, is_quote: survey.is_quote, has_volume, extra };
    Ok(Settled { heading, scale, bar_ns: times.bar_ns })
}
