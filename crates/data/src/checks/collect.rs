//! Rows of exact numbers, one after the other, onto the instrument's grid.

use rust_decimal::Decimal;

use super::{prices, volume};
use crate::{error::DataError, instrument::Instrument, load::RangePolicy, source::Repairs, stamp::Before};

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

/// One row on the grid that the instrument has before it is refined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GridRow {
    /// Line (or record number) in the unpacked file, from 1.
    pub(crate) line: u64,
    /// The stamp in ns UTC.
    pub(crate) stamp_ns: i64,
    /// Open, high, low, close in price units.
    pub(crate) bid: [i32; 4],
    pub(crate) ask: Option<[i32; 4]>,
    /// Volume in lots, where the file has the column.
    pub(crate) lots: Option<i64>,
    /// Bits of the extra columns' values; those of NaN where there is none.
    pub(crate) extra: Vec<u64>,
}

impl GridRow {
    /// Whether two rows say the same, wherever they stand.
    pub(super) fn same(&self, other: &Self) -> bool {
        Self { line: other.line, ..self.clone() } == *other
    }
}

/// Where rows go.
pub(crate) trait Sink {
    /// Rows follow, of bars this long where that is known. What came before is none: it was of another symbol.
    fn begin(&mut self, bar_seconds: Option<i64>);

    /// Takes a row, in the file's order.
    ///
    /// # Errors
    /// What keeps the sink from going on.
    fn take(&mut self, row: &GridRow) -> Result<(), DataError>;
}

/// What turns rows to integers, with what was seen and done so far.
pub(crate) struct Intake {
    pub(crate) path: String,
    pub(crate) instrument: Instrument,
    pub(super) policy: RangePolicy,
    /// The stamps of the two rows before, the latest first.
    last: [Option<i64>; 2],
    /// Rows that are later than the one before them, and earlier.
    pub(super) rises: u64,
    pub(super) falls: u64,
    /// Some cell of the volume holds a number.
    pub(super) volume_said: bool,
    pub(crate) rows_read: u64,
    pub(crate) repairs: Repairs,
    /// The symbol whose rows these are.
    pub(crate) symbol: Option<String>,
}

impl Intake {
    pub(crate) fn new(path: &str, instrument: Instrument, policy: RangePolicy) -> Self {
        Self {
            path: path.to_owned(),
            instrument,
            policy,
            last: [None; 2],
            rises: 0,
            falls: 0,
            volume_said: false,
            rows_read: 0,
            repairs: Repairs::default(),
            symbol: None,
        }
    }

    /// The stamp before, and whether stamps have been falling.
    pub(crate) fn before(&self) -> Before {
        let descending = matches!(self.last, [Some(b), Some(a)] if b < a);
        Before { stamp_ns: self.last[0], descending }
    }

    /// Whether some row is earlier than one before it.
    pub(crate) fn is_disordered(&self) -> bool {
        self.falls > 0
    }

    /// One row's integers.
    ///
    /// # Errors
    /// What is wrong with one of its cells.
    pub(crate) fn row(&mut self, row: &RawBar) -> Result<GridRow, DataError> {
        let bid = prices::bar(self, row, false)?;
        let ask = match row.ask {
            Some(_) => Some(prices::bar(self, row, true)?),
            None => None,
        };
        if let Some(ask) = &ask {
            prices::check_spread(&self.path, row, &bid, ask)?;
        }
        let lots = volume::lots(self, row)?;
        if let Some(before) = self.last[0] {
            self.rises += u64::from(row.stamp_ns > before);
            self.falls += u64::from(row.stamp_ns < before);
        }
        self.last = [Some(row.stamp_ns), self.last[0]];
        self.rows_read += 1;
        let extra = row.extra.iter().map(|value| value.to_bits()).collect();
        Ok(GridRow { line: row.line, stamp_ns: row.stamp_ns, bid, ask, lots, extra })
    }
}
