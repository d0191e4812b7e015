//! Rows, one after the other, to columns of integers.

use rust_decimal::Decimal;

use super::{prices, volume};
use crate::{bars::Ohlc, error::DataError, instrument::Instrument, load::RangePolicy, source::Repairs};

/// One row of a file, as exact numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawBar {
    /// Line (or record number) in the unpacked file, from 1.
    pub(crate) line: u64,
    /// The stamp in ns UTC.
    pub(crate) stamp_ns: i64,
    /// Open, high, low, close: of trades or of the bid.
    pub(crate) bid: [Decimal; 4],
    /// Open, high, low, close of the ask.
    pub(crate) ask: Option<[Decimal; 4]>,
    pub(crate) volume: Volume,
    /// Values of the extra columns; NaN where there is none.
    pub(crate) extra: Vec<f64>,
}

/// Volume in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Volume {
    /// The file has no such column.
    None,
    /// The cell is empty.
    Missing,
    /// The cell's number.
    Of(Decimal),
}

/// What has been read so far.
pub(crate) struct Collector<'a> {
    pub(super) path: &'a str,
    pub(super) instrument: Instrument,
    pub(super) policy: RangePolicy,
    pub(super) stamps: Vec<i64>,
    pub(super) lines: Vec<u64>,
    pub(super) bid: Ohlc,
    pub(super) ask: Option<Ohlc>,
    /// Lots; as many as rows where the file has the column.
    pub(super) volume: Vec<i64>,
    /// Some cell of the volume holds a number.
    pub(super) volume_said: bool,
    /// The extra columns, NaN where there is no value.
    pub(super) extra: Vec<Vec<f64>>,
    pub(super) rows_read: u64,
    pub(crate) repairs: Repairs,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(path: &'a str, instrument: Instrument, policy: RangePolicy) -> Self {
        Self {
            path,
            instrument,
            policy,
            stamps: Vec::new(),
            lines: Vec::new(),
            bid: Ohlc::default(),
            ask: None,
            volume: Vec::new(),
            volume_said: false,
            extra: Vec::new(),
            rows_read: 0,
            repairs: Repairs::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stamps.is_empty()
    }

    /// The stamp before, and whether stamps have been falling.
    pub(crate) fn before(&self) -> crate::stamp::Before {
        let descending = matches!(self.stamps.as_slice(), [.., a, b] if b < a);
        crate::stamp::Before { stamp_ns: self.stamps.last().copied(), descending }
    }

    /// Takes one row.
    ///
    /// # Errors
    /// What is wrong with one of its cells.
    pub(crate) fn push(&mut self, row: &RawBar) -> Result<(), DataError> {
        let bid = prices::bar(self, row, false)?;
        let ask = match row.ask {
            Some(_) => Some(prices::bar(self, row, true)?),
            None => None,
        };
        if let Some(ask) = &ask {
            prices::check_spread(self.path, row, &bid, ask)?;
        }
        if let Some(lots) = volume::lots(self, row)? {
            self.volume.push(lots);
        }
        self.stamps.push(row.stamp_ns);
        self.lines.push(row.line);
        push(&mut self.bid, bid);
        if let Some(ask) = ask {
            push(self.ask.get_or_insert_default(), ask);
        }
        self.extra.resize(row.extra.len(), Vec::new());
        self.extra.iter_mut().zip(&row.extra).for_each(|(column, value)| column.push(*value));
        self.rows_read += 1;
        Ok(())
    }

    /// Puts the rows in this order; rows that it does not name are gone.
    pub(super) fn reorder(&mut self, order: &[usize]) {
        fn pick<T: Copy>(column: &mut Vec<T>, order: &[usize]) {
            if !column.is_empty() {
                *column = order.iter().map(|&i| column[i]).collect();
            }
        }
        pick(&mut self.stamps, order);
        pick(&mut self.lines, order);
        pick(&mut self.volume, order);
        self.extra.iter_mut().for_each(|column| pick(column, order));
        for side in [Some(&mut self.bid), self.ask.as_mut()].into_iter().flatten() {
            for column in [&mut side.open, &mut side.high, &mut side.low, &mut side.close] {
                pick(column, order);
            }
        }
    }

    /// Whether two rows say the same.
    pub(super) fn same(&self, a: usize, b: usize) -> bool {
        let row = |side: &Ohlc, i: usize| [side.open[i], side.high[i], side.low[i], side.close[i]];
        row(&self.bid, a) == row(&self.bid, b)
            && self.ask.as_ref().is_none_or(|ask| row(ask, a) == row(ask, b))
            && self.volume.get(a) == self.volume.get(b)
            && self.extra.iter().all(|column| column[a].to_bits() == column[b].to_bits())
    }
}

fn push(side: &mut Ohlc, [open, high, low, close]: [i32; 4]) {
    side.open.push(open);
    side.high.push(high);
    side.low.push(low);
    side.close.push(close);
}
