//! Volume in whole lots, from the file or from the preset.

use rust_decimal::{Decimal, RoundingStrategy};

use super::times::Times;
use crate::{error::DataError, instrument::Instrument, raw::RawRow, source::Repairs};

const NS_PER_HOUR: i128 = 3_600_000_000_000;

/// Volume of each bar in lots, rounded down (against the trader: it caps fills), and whether the file has it.
pub(super) fn volume(
    path: &str,
    rows: &[RawRow],
    instrument: &Instrument,
    times: &Times,
    repairs: &mut Repairs,
) -> Result<(Vec<i64>, bool), DataError> {
    if rows.iter().any(|row| row.volume.is_none()) {
        return Ok((preset(instrument, times), false));
    }
    let mut lots = Vec::with_capacity(rows.len());
    for row in rows {
        let volume = row.volume.unwrap_or_default();
        let refuse =
            |problem, fix| DataError::cell(path, (row.line, "volume"), &volume.to_string(), problem, fix);
        if volume < Decimal::ZERO {
            return Err(refuse("is below zero", "mend the volume or remove the row"));
        }
        let whole = volume
            .checked_div(instrument.lot)
            .map(|v| v.round_dp_with_strategy(0, RoundingStrategy::ToZero))
            .and_then(|v| i64::try_from(v).ok())
            .ok_or_else(|| refuse("does not fit 64 bits in lots", "give an instrument with a larger lot"))?;
        repairs.volumes_below_lot += u64::from(whole == 0 && volume > Decimal::ZERO);
        lots.push(whole);
    }
    // A column of zeros says that nobody counted, not that nobody traded.
    if lots.iter().all(|&v| v == 0) && repairs.volumes_below_lot == 0 {
        return Ok((preset(instrument, times), false));
    }
    Ok((lots, true))
}

fn preset(instrument: &Instrument, times: &Times) -> Vec<i64> {
    let per_hour = i128::from(instrument.preset_volume_lots_per_hour);
    let of = |(open, close): (&i64, &i64)| {
        let lots = per_hour * (i128::from(*close) - i128::from(*open)) / NS_PER_HOUR;
        i64::try_from(lots.max(1)).unwrap_or(i64::MAX)
    };
    times.open_ns.iter().zip(&times.close_ns).map(of).collect()
}
