//! From rows as they stand in a file to [`Bars`] that hold every promise of that type, or a refusal. Rows go to integers at
//! once, so that what is held is the columns of the bars and a line number for each.

mod collect;
mod order;
mod prices;
mod times;
mod volume;

use crate::{
    bars::Bars,
    error::DataError,
    extra::ExtraColumn,
    load::LoadOptions,
    source::{Basis, SourceInfo, StampSide},
};

pub(crate) use collect::{Collector, RawBar, Volume};

/// What the reader understood of a file, for the report.
#[derive(Debug)]
pub(crate) struct Understood {
    pub(crate) format: String,
    pub(crate) stamp_format: String,
    /// What the format or the header says of stamps.
    pub(crate) stamp_side: Option<(StampSide, Basis)>,
    /// What the format says of the bar length.
    pub(crate) bar_seconds: Option<i64>,
    /// Zone that stamps were read in, and why.
    pub(crate) time_zone: (String, Basis),
    pub(crate) columns: Vec<String>,
    pub(crate) columns_unused: Vec<String>,
    /// Names of the extra columns.
    pub(crate) extra: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// Checks what has been collected; the order of steps matters: time first, for gaps decide about opens.
///
/// # Errors
/// The first promise of [`Bars`] that the rows break, with its line, field and text.
pub(crate) fn to_bars(
    mut all: Collector<'_>,
    understood: Understood,
    options: &LoadOptions,
    sha256: String,
) -> Result<Bars, DataError> {
    let path = all.path;
    order::sort(&mut all)?;
    let bar_seconds = options.bar_seconds.or(understood.bar_seconds);
    let side = options.stamp_side.map(|side| (side, Basis::Given)).or(understood.stamp_side);
    let times = times::times(path, &all.stamps, side, bar_seconds)?;
    all.repairs.times_trimmed = times.trimmed;
    prices::refine_grid(&mut all)?;
    let opens_at_previous_close = prices::opens_at_previous_close(&all.bid, all.ask.as_ref());
    let synthetic_opens = prices::is_synthetic(opens_at_previous_close, all.stamps.len());
    if synthetic_opens {
        all.repairs.opens_replaced = prices::replace_opens(&times, &mut all.bid, all.ask.as_mut());
    }
    prices::check_fit(&all)?;
    let mut extra = Vec::with_capacity(understood.extra.len());
    for (name, values) in understood.extra.iter().zip(std::mem::take(&mut all.extra)) {
        let (column, held) = ExtraColumn::held(name, values).ok_or_else(|| {
            let problem = format!("has no value at all in its column {name:?}");
            DataError::file(
                path,
                problem,
                "leave it out of features.columns, or give a file that has values there",
            )
        })?;
        all.repairs.values_held += held;
        extra.push(column);
    }
    let has_volume = volume::finish(&mut all, &times);
    let source = SourceInfo {
        path: path.to_owned(),
        sha256,
        format: understood.format,
        stamp_format: understood.stamp_format,
        stamp_side: times.side,
        stamp_side_basis: times.basis,
        time_zone: understood.time_zone.0,
        time_zone_basis: understood.time_zone.1,
        bar_seconds: times.bar_ns.div_euclid(1_000_000_000).max(1),
        rows_read: all.rows_read,
        columns: understood.columns,
        columns_unused: understood.columns_unused,
        notes: understood.notes,
        opens_at_previous_close,
        synthetic_opens,
        repairs: all.repairs,
    };
    Ok(Bars {
        instrument: all.instrument,
        open_ns: times.open_ns,
        close_ns: times.close_ns,
        bid: all.bid,
        ask: all.ask,
        volume_lots: all.volume,
        has_volume,
        extra,
        source,
    })
}
