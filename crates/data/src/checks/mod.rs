//! From rows as they stand in a file to [`Bars`] that hold every promise of that type, or a refusal.

mod order;
mod prices;
mod times;
mod volume;

use crate::{
    bars::Bars,
    error::DataError,
    instrument::Instrument,
    load::LoadOptions,
    raw::RawTable,
    source::{Repairs, SourceInfo},
};

/// Checks and converts; the order of steps matters: time first, for gaps decide about opens.
///
/// # Errors
/// The first promise of [`Bars`] that the rows break, with its line, field and text.
pub(crate) fn to_bars(
    path: &str,
    raw: RawTable,
    instrument: Instrument,
    options: &LoadOptions,
    sha256: &str,
) -> Result<Bars, DataError> {
    let RawTable { mut rows, format, stamp_format, stamp_side, time_zone, columns_unused } = raw;
    let mut repairs = Repairs { reversed: order::sort(path, &mut rows)?, ..Repairs::default() };
    let times = times::times(path, &rows, stamp_side, options)?;
    repairs.times_trimmed = times.trimmed;
    let on_grid = prices::on_grid(path, &rows, instrument, options.range_policy, &mut repairs)?;
    let (instrument, mut bid, mut ask) = (on_grid.instrument, on_grid.bid, on_grid.ask);
    let opens_at_previous_close = prices::opens_at_previous_close(&bid, ask.as_ref());
    let synthetic_opens = prices::is_synthetic(opens_at_previous_close, rows.len());
    if synthetic_opens {
        repairs.opens_replaced = prices::replace_opens(&times, &mut bid, ask.as_mut());
    }
    prices::check_fit(path, &rows, &instrument, &bid)?;
    let (volume_lots, has_volume) = volume::volume(path, &rows, &instrument, &times, &mut repairs)?;
    let source = SourceInfo {
        path: path.to_owned(),
        sha256: sha256.to_owned(),
        format,
        stamp_format,
        stamp_side: times.side,
        stamp_side_basis: times.basis,
        time_zone: time_zone.0,
        time_zone_basis: time_zone.1,
        bar_seconds: times.bar_ns.div_euclid(1_000_000_000).max(1),
        rows_read: rows.len() as u64,
        columns_unused,
        opens_at_previous_close,
        synthetic_opens,
        repairs,
    };
    Ok(Bars {
        instrument,
        open_ns: times.open_ns,
        close_ns: times.close_ns,
        bid,
        ask,
        volume_lots,
        has_volume,
        source,
    })
}
