//! Prices onto the integer grid, and what must hold between them.

use rust_decimal::{Decimal, RoundingStrategy};

use super::{GridRow, Intake, RawBar};
use crate::{error::DataError, instrument::Instrument, load::RangePolicy, reader::columns::PRICES};

/// Fewer bars than this say nothing about how opens are made.
const SYNTHETIC_EVIDENCE: u64 = 100;

/// One side's prices of a row in units: snapped to the grid, and open and close inside the bar's range.
pub(super) fn bar(all: &mut Intake, row: &RawBar, is_ask: bool) -> Result<[i32; 4], DataError> {
    let Some(prices) = prices_of(row, is_ask) else { return Ok([0; 4]) };
    let mut units = [0; 4];
    for (field, unit) in units.iter_mut().enumerate() {
        let exact;
        (*unit, exact) = snap(all, row, is_ask, field, prices[field])?;
        all.repairs.prices_snapped += u64::from(!exact);
    }
    let widened = check_range(&all.path, row, is_ask, units, all.policy)?;
    all.repairs.ranges_widened += u64::from(widened != units);
    Ok(widened)
}

fn snap(
    all: &Intake,
    row: &RawBar,
    is_ask: bool,
    field: usize,
    price: Decimal,
) -> Result<(i32, bool), DataError> {
    let instrument = &all.instrument;
    let refuse = |problem: String, fix: &str| {
        let name = price_name(row, is_ask, field);
        DataError::cell(&all.path, (row.line, &name), &price.to_string(), problem, fix)
    };
    if price <= Decimal::ZERO {
        return Err(refuse("is not above zero".into(), "mend the price or remove the row"));
    }
    let (units, exact) = to_units(price, instrument.price_unit).ok_or_else(|| {
        refuse(
            format!("does not fit 32 bits in units of {}", instrument.price_unit),
            "give an instrument with a coarser price_unit",
        )
    })?;
    if units == 0 {
        let problem = format!("is below half the price unit {}", instrument.price_unit);
        return Err(refuse(problem, "give an instrument with a finer price_unit"));
    }
    if !exact && moves_too_far(price, units, instrument) {
        let problem = format!("is more than 1 bp away from the grid of {}", instrument.price_unit);
        return Err(refuse(problem, "give an instrument with a finer price_unit"));
    }
    Ok((units, exact))
}

/// The instrument with half its price unit, which mids of quote bars need; the finer grid takes prices as the coarse one rounded
/// them, so that every sum of two stays even. `highest` is the highest price in coarse units.
pub(super) fn refined(path: &str, instrument: &Instrument, highest: i32) -> Result<Instrument, DataError> {
    let fine = instrument.with_half_unit().ok_or_else(|| {
        let problem = "has bid and ask whose middle is off the price grid, and a finer grid does not fit";
        DataError::file(path, problem, "give an instrument whose price_unit is half the quote tick")
    })?;
    if highest.checked_mul(2).is_none() {
        let problem = "has prices that do not fit 32 bits on a grid fine enough for mids";
        let fix = "give an instrument with a coarser price_unit and an even tick_units";
        return Err(DataError::file(path, problem, fix));
    }
    Ok(fine)
}

/// The prices of one side as they stand in the file.
fn prices_of(row: &RawBar, is_ask: bool) -> Option<&[Decimal; 4]> {
    if is_ask { row.ask.as_ref() } else { Some(&row.bid) }
}

/// Name of a price as headers have it: `high`, or `bid_high` and `ask_high` where both sides are quoted.
fn price_name(row: &RawBar, is_ask: bool, field: usize) -> String {
    let side = match (row.ask.is_some(), is_ask) {
        (false, _) => "",
        (true, false) => "bid_",
        (true, true) => "ask_",
    };
    format!("{side}{}", PRICES[field])
}

/// Whether snapping changes a price by more than 1 bp of it: then returns would be the grid's, not the market's.
fn moves_too_far(price: Decimal, units: i32, instrument: &Instrument) -> bool {
    let moved = instrument.price(units).checked_sub(price).map(|d| d.abs());
    let bound = price.checked_mul(Decimal::new(1, 4));
    moved.zip(bound).is_none_or(|(moved, bound)| moved > bound)
}

/// The nearest whole number of units (ties away from zero), and whether the price was one.
fn to_units(price: Decimal, unit: Decimal) -> Option<(i32, bool)> {
    let exact = price.checked_div(unit)?;
    let whole = exact.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero);
    Some((i32::try_from(whole).ok()?, whole == exact))
}

/// Whether the middle of some bid and ask is off the grid.
pub(super) fn any_odd(bid: &[i32; 4], ask: &[i32; 4]) -> bool {
    bid.iter().zip(ask).any(|(b, a)| (b ^ a) & 1 == 1)
}

fn check_range(
    path: &str,
    row: &RawBar,
    is_ask: bool,
    [open, high, low, close]: [i32; 4],
    policy: RangePolicy,
) -> Result<[i32; 4], DataError> {
    let text = |field: usize| prices_of(row, is_ask).map(|t| t[field].to_string()).unwrap_or_default();
    let refuse = |field: usize, problem: String, fix: &str| {
        let name = price_name(row, is_ask, field);
        Err(DataError::cell(path, (row.line, &name), &text(field), problem, fix))
    };
    if high < low {
        let fix = "check the order of the columns (a header names them, --columns says it), or mend the row";
        return refuse(1, format!("is below the low {}", text(2)), fix);
    }
    for (field, price) in [(0, open), (3, close)] {
        if (price > high || price < low) && policy == RangePolicy::Refuse {
            let problem = format!("is outside the bar's low {} to high {}", text(2), text(1));
            let fix = "check the order of the columns, mend the row, or widen ranges with --widen-ranges";
            return refuse(field, problem, fix);
        }
    }
    Ok([open, high.max(open).max(close), low.min(open).min(close), close])
}

/// Refuses an ask below the bid.
pub(super) fn check_spread(
    path: &str,
    row: &RawBar,
    bid: &[i32; 4],
    ask: &[i32; 4],
) -> Result<(), DataError> {
    let Some(field) = (0..4).find(|&field| ask[field] < bid[field]) else { return Ok(()) };
    let name = price_name(row, true, field);
    let text = row.ask.map(|a| a[field].to_string()).unwrap_or_default();
    let problem = format!("is below the bid {}", row.bid[field]);
    let fix = "check which columns are bid and which ask, or mend the row";
    Err(DataError::cell(path, (row.line, &name), &text, problem, fix))
}

/// Whether a row opens at the close of the one before (on both sides of quote bars).
pub(super) fn opens_at_close(before: &GridRow, row: &GridRow) -> bool {
    let same = |before: [i32; 4], row: [i32; 4]| before[3] == row[0];
    same(before.bid, row.bid) && before.ask.zip(row.ask).is_none_or(|(before, ask)| same(before, ask))
}

/// Whether opens are made from closes: more than 99 % of bars, in a file long enough to say so.
pub(super) fn is_synthetic(opens_at_previous_close: u64, rows: u64) -> bool {
    rows >= SYNTHETIC_EVIDENCE && opens_at_previous_close * 100 > (rows - 1) * 99
}

/// Four times the largest position that starting cash can open, at the lowest price (of a line), must fit 32 bits.
pub(super) fn check_fit(
    path: &str,
    instrument: &Instrument,
    lowest: i32,
    line: u64,
) -> Result<(), DataError> {
    let lots = instrument.largest_start_lots(lowest).unwrap_or(i128::MAX / 4);
    if lots.saturating_mul(4) <= i128::from(i32::MAX) {
        return Ok(());
    }
    let problem = format!(
        "lets {} {} at full leverage buy {lots} lots; four times that does not fit 32 bits",
        instrument.start_cash, instrument.quote_currency
    );
    let fix = "use a larger lot, less cash or less leverage, or drop the cheap years";
    Err(DataError::cell(path, (line, "low"), &instrument.price(lowest).to_string(), problem, fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapping_is_to_the_nearest_unit_ties_away_from_zero() {
        let unit = Decimal::new(1, 4);
        let units = |text: &str| to_units(text.parse().unwrap(), unit);
        assert_eq!(units("146.9100"), Some((1_469_100, true)));
        assert_eq!(units("146.90999"), Some((1_469_100, false)));
        assert_eq!(units("0.00005"), Some((1, false)));
        assert_eq!(units("0.00004"), Some((0, false)));
        assert_eq!(units("214748.3647"), Some((i32::MAX, true)));
        assert_eq!(units("214748.3648"), None);
    }
}
