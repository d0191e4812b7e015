//! Volume in whole lots, from the file or from the preset.

use rust_decimal::{Decimal, RoundingStrategy};

use super::{Collector, RawBar, Volume, times::Times};
use crate::{error::DataError, instrument::Instrument};

const NS_PER_HOUR: i128 = 3_600_000_000_000;

/// A row's volume in lots, rounded down (against the trader: it caps fills); an empty cell is none, and is counted.
pub(super) fn lots(all: &mut Collector<'_>, row: &RawBar) -> Result<Option<i64>, DataError> {
    let volume = match row.volume {
        Volume::None => return Ok(None),
        Volume::Missing => {
            all.repairs.volumes_missing += 1;
            return Ok(Some(0));
        }
        Volume::Of(volume) => volume,
    };
    let refuse =
        |problem, fix| DataError::cell(all.path, (row.line, "volume"), &volume.to_string(), problem, fix);
    if volume < Decimal::ZERO {
        return Err(refuse("is below zero", "mend the volume or remove the row"));
    }
    let whole = volume
        .checked_div(all.instrument.lot)
        .map(|v| v.round_dp_with_strategy(0, RoundingStrategy::ToZero))
        .and_then(|v| i64::try_from(v).ok())
        .ok_or_else(|| refuse("does not fit 64 bits in lots", "give an instrument with a larger lot"))?;
    all.repairs.volumes_below_lot += u64::from(whole == 0 && volume > Decimal::ZERO);
    all.volume_said = true;
    Ok(Some(whole))
}

/// Fills the column from the preset where the file has none, and says whether it has. A column of zeros says that nobody
/// counted, not that nobody traded; a column of empty cells says nothing.
pub(super) fn finish(all: &mut Collector<'_>, times: &Times) -> bool {
    let counted = all.volume.iter().any(|&v| v != 0) || all.repairs.volumes_below_lot > 0;
    let complete = all.volume.len() == all.stamps.len();
    if all.volume_said && counted && complete {
        return true;
    }
    if !all.volume_said {
        all.repairs.volumes_missing = 0;
    }
    all.volume = preset(&all.instrument, times);
    false
}

fn preset(instrument: &Instrument, times: &Times) -> Vec<i64> {
    let per_hour = i128::from(instrument.preset_volume_lots_per_hour);
    let of = |(open, close): (&i64, &i64)| {
        let lots = per_hour * (i128::from(*close) - i128::from(*open)) / NS_PER_HOUR;
        i64::try_from(lots.max(1)).unwrap_or(i64::MAX)
    };
    times.open_ns.iter().zip(&times.close_ns).map(of).collect()
}
