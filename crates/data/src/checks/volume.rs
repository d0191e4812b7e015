//! Volume in whole lots.

use rust_decimal::{Decimal, RoundingStrategy};

use super::{Intake, RawBar, Volume};
use crate::error::DataError;

/// A row's volume in lots, rounded down (against the trader: it caps fills); an empty cell is none, and is counted.
pub(super) fn lots(all: &mut Intake, row: &RawBar) -> Result<Option<i64>, DataError> {
    let volume = match row.volume {
        Volume::None => return Ok(None),
        Volume::Missing => {
            all.repairs.volumes_missing += 1;
            return Ok(Some(0));
        }
        Volume::Of(volume) => volume,
    };
    let refuse =
        |problem, fix| DataError::cell(&all.path, (row.line, "volume"), &volume.to_string(), problem, fix);
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
