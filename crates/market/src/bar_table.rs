use crate::{Bar, Context};
use std::ops::Range;

/// Columns of T bars, as files and their derived numbers give them. Prices in price units, volumes in lots.
#[derive(Clone, Copy, Debug)]
pub struct BarColumns<'a> {
    /// Bid open, high, low, close; the only prices of trade bars.
    pub bid: [&'a [i32]; 4],
    /// Ask open, high, low, close of quote bars.
    pub ask: Option<[&'a [i32]; 4]>,
    /// Traded lots.
    pub volume: &'a [i64],
    /// Mean volume known at the close.
    pub mean_volume: &'a [i64],
    /// Volatility of one bar known at the close, units.
    pub sigma: &'a [i32],
    /// ATR24 at the close, units.
    pub atr: &'a [i32],
    /// Seconds from the previous close to the open; above 0 is a time gap.
    pub gap_seconds: &'a [u32],
    /// Seconds from open to close.
    pub bar_seconds: &'a [u32],
    /// 30-day EWMA of the volatility of one bar at the close, 1e-9 of price.
    pub slow_volatility_e9: &'a [u32],
    /// Seconds from the close to the session's end.
    pub session_seconds: &'a [u32],
}

/// The rows that kernels read, `[T]`: prices and what else is known at each close.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BarTable {
    /// Bars.
    pub bars: Vec<Bar>,
    /// What stands beside each bar.
    pub context: Vec<Context>,
}

/// Columns that make no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A column is longer or shorter than the first.
    #[error("column {column} has {got} rows, the others have {expected}")]
    Length {
        /// Which.
        column: &'static str,
        /// Its rows.
        got: usize,
        /// Rows of the first column.
        expected: usize,
    },
    /// A row that the physics can't work on.
    #[error("row {row}, {column}: {problem}")]
    Row {
        /// Which row, from 0.
        row: usize,
        /// Which column.
        column: &'static str,
        /// What is wrong.
        problem: String,
    },
}

/// A mean volume beyond this would overflow the impact's denominator.
const MAX_MEAN_VOLUME: i64 = 900_000_000_000_000;

impl BarTable {
    /// Rows from columns, each checked: positive prices with low <= open, close <= high, ask not below bid, volatilities and
    /// mean volume of at least 1.
    ///
    /// # Errors
    /// The first column or row that is wrong.
    pub fn from_columns(x: &BarColumns<'_>) -> Result<Self, TableError> {
        let rows = x.volume.len();
        let ask = x.ask.unwrap_or(x.bid);
        let length = |column, got: usize| {
            if got == rows { Ok(()) } else { Err(TableError::Length { column, got, expected: rows }) }
        };
        x.bid.iter().try_for_each(|c| length("bid", c.len()))?;
        ask.iter().try_for_each(|c| length("ask", c.len()))?;
        length("mean_volume", x.mean_volume.len())?;
        length("sigma", x.sigma.len())?;
        length("atr", x.atr.len())?;
        length("gap_seconds", x.gap_seconds.len())?;
        length("bar_seconds", x.bar_seconds.len())?;
        length("slow_volatility_e9", x.slow_volatility_e9.len())?;
        length("session_seconds", x.session_seconds.len())?;
        let mut table = BarTable { bars: Vec::with_capacity(rows), context: Vec::with_capacity(rows) };
        for row in 0..rows {
            let bar = Bar {
                bid: x.bid.map(|c| c[row]),
                ask: ask.map(|c| c[row]),
                volume: x.volume[row],
                mean_volume: x.mean_volume[row],
                sigma: x.sigma[row],
                atr: x.atr[row],
                gap_seconds: x.gap_seconds[row],
                bar_seconds: x.bar_seconds[row],
            };
            check_bar(row, &bar)?;
            table.bars.push(bar);
            table.context.push(Context {
                volatility_e9: x.slow_volatility_e9[row],
                session_seconds: x.session_seconds[row],
            });
        }
        Ok(table)
    }

    /// Rows, T.
    pub fn len(&self) -> usize {
        self.bars.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.bars.is_empty()
    }

    /// Highest price of either side, units; what [`crate::RuleBook::highest_price`] asks for. 0 without rows.
    pub fn highest_price(&self) -> i32 {
        self.bars.iter().map(|b| b.bid[1].max(b.ask[1])).max().unwrap_or(0)
    }

    /// The least volatility that an episode of this window is measured by, 1e-9: the window's 5th percentile (the value that
    /// a twentieth of its rows lie below), at least 1.
    pub fn volatility_floor_e9(&self, window: Range<usize>) -> u32 {
        let end = window.end.min(self.len());
        let mut all: Vec<u32> =
            self.context[window.start.min(end)..end].iter().map(|c| c.volatility_e9).collect();
        all.sort_unstable();
        all.get(all.len() / 20).copied().unwrap_or(1).max(1)
    }
}

fn check_bar(row: usize, bar: &Bar) -> Result<(), TableError> {
    let wrong = |column, problem: String| Err(TableError::Row { row, column, problem });
    for (column, [open, high, low, close]) in [("bid", bar.bid), ("ask", bar.ask)] {
        if low < 1 || low > open.min(close) || high < open.max(close) {
            return wrong(column, format!("open {open}, high {high}, low {low}, close {close}"));
        }
    }
    if bar.bid.iter().zip(bar.ask).any(|(&bid, ask)| ask < bid) {
        return wrong("ask", format!("{:?} is below the bid {:?}", bar.ask, bar.bid));
    }
    if bar.volume < 0 {
        return wrong("volume", format!("{} lots", bar.volume));
    }
    if !(1..=MAX_MEAN_VOLUME).contains(&bar.mean_volume) {
        return wrong("mean_volume", format!("{} is not in 1 to {MAX_MEAN_VOLUME}", bar.mean_volume));
    }
    if bar.sigma < 1 {
        return wrong("sigma", format!("{} is below one unit", bar.sigma));
    }
    if bar.atr < 1 {
        return wrong("atr", format!("{} is below one unit", bar.atr));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns<'a>(
        price: &'a [i32],
        ones: &'a [i64],
        units: &'a [i32],
        seconds: &'a [u32],
    ) -> BarColumns<'a> {
        BarColumns {
            bid: [price; 4],
            ask: None,
            volume: ones,
            mean_volume: ones,
            sigma: units,
            atr: units,
            gap_seconds: seconds,
            bar_seconds: seconds,
            slow_volatility_e9: seconds,
            session_seconds: seconds,
        }
    }

    #[test]
    fn trade_bars_have_one_side_twice() {
        let table = BarTable::from_columns(&columns(&[5, 7], &[1, 2], &[3, 4], &[10, 20])).unwrap();
        assert_eq!((table.bars[1].bid, table.bars[1].ask), ([7; 4], [7; 4]));
        assert_eq!((table.len(), table.highest_price(), table.context[1].session_seconds), (2, 7, 20));
    }

    #[test]
    fn wrong_rows_are_named() {
        let good = columns(&[5, 7], &[1, 2], &[3, 4], &[10, 20]);
        let error = BarTable::from_columns(&BarColumns { atr: &[1], ..good }).unwrap_err();
        assert_eq!(error.to_string(), "column atr has 1 rows, the others have 2");
        let error = BarTable::from_columns(&BarColumns { sigma: &[3, 0], ..good }).unwrap_err();
        assert_eq!(error.to_string(), "row 1, sigma: 0 is below one unit");
        let error = BarTable::from_columns(&BarColumns { ask: Some([&[5, 6]; 4]), ..good }).unwrap_err();
        assert!(error.to_string().starts_with("row 1, ask: "), "{error}");
        let low: [&[i32]; 4] = [&[5, 7], &[5, 7], &[6, 7], &[5, 7]];
        assert!(matches!(
            BarTable::from_columns(&BarColumns { bid: low, ..good }),
            Err(TableError::Row { row: 0, column: "bid", .. })
        ));
    }

    #[test]
    fn the_floor_is_the_fifth_percentile_of_the_window() {
        let volatility: Vec<u32> = (0..200).rev().collect();
        let context = volatility.iter().map(|&v| Context { volatility_e9: v, session_seconds: 0 }).collect();
        let table = BarTable { bars: vec![Bar::default(); 200], context };
        assert_eq!(table.volatility_floor_e9(0..100), 105);
        assert_eq!(table.volatility_floor_e9(199..200), 1);
    }
}
