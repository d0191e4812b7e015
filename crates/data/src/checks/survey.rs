//! What must be known of all rows before the first bar can be made, as running statistics: rows go by, none is kept.

use super::{GridRow, Intake, Settled, Sink, Understood, prices, settle, times::Steps};
use crate::{bars::mids2, error::DataError, jumps::Jumps, load::LoadOptions, moment::show_moment};

/// Rows in order of time, looked over.
pub(crate) struct Survey {
    path: String,
    pub(super) steps: Steps,
    before: Option<GridRow>,
    /// Moments: rows without those that repeat another.
    pub(super) rows: u64,
    /// The first and the last stamp.
    pub(super) stamps: (i64, i64),
    pub(super) is_quote: bool,
    /// The middle of some bid and ask is off the grid.
    pub(super) any_odd: bool,
    /// The highest price.
    pub(super) highest: i32,
    /// The first of the lowest lows, and its line.
    pub(super) lowest: Option<(i32, u64)>,
    /// Rows after the first that open at the close before.
    pub(super) opens_at_close: u64,
    /// Prices far from those around them.
    pub(super) jumps: Jumps,
    /// Some row has volume.
    pub(super) counted: bool,
    pub(super) repeated: u64,
    /// What is known of each extra column.
    pub(super) extra: Vec<Seen>,
    /// The first moment that stands twice with other numbers.
    pub(super) fault: Option<DataError>,
}

impl Survey {
    pub(crate) fn new(path: &str) -> Self {
        Self::of(path, None)
    }

    fn of(path: &str, bar_seconds: Option<i64>) -> Self {
        Self {
            path: path.to_owned(),
            steps: Steps::new(bar_seconds),
            before: None,
            rows: 0,
            stamps: (0, 0),
            is_quote: false,
            any_odd: false,
            highest: 0,
            lowest: None,
            opens_at_close: 0,
            jumps: Jumps::new(),
            counted: false,
            repeated: 0,
            extra: Vec::new(),
            fault: None,
        }
    }

    fn push(&mut self, row: &GridRow) {
        if let Some(before) = &self.before {
            if before.stamp_ns == row.stamp_ns {
                if before.same(row) {
                    self.repeated += 1;
                } else if self.fault.is_none() {
                    self.fault = Some(twice(&self.path, before, row));
                }
                return;
            }
            self.steps.push(before.stamp_ns, row.stamp_ns);
            self.opens_at_close += u64::from(prices::opens_at_close(before, row));
        } else {
            self.stamps.0 = row.stamp_ns;
        }
        self.jumps.push(row.line, row.stamp_ns, mids2(row.bid, row.ask));
        self.stamps.1 = row.stamp_ns;
        self.rows += 1;
        self.is_quote = row.ask.is_some();
        self.any_odd |= row.ask.is_some_and(|ask| prices::any_odd(&row.bid, &ask));
        self.highest = self.highest.max(row.bid[1]).max(row.ask.map_or(0, |ask| ask[1]));
        if self.lowest.is_none_or(|(low, _)| row.bid[2] < low) {
            self.lowest = Some((row.bid[2], row.line));
        }
        self.extra.resize_with(row.extra.len(), Seen::default);
        for (seen, bits) in self.extra.iter_mut().zip(&row.extra) {
            let missing = f64::from_bits(*bits).is_nan();
            seen.any |= !missing;
            seen.missing += u64::from(seen.any && missing);
        }
        self.counted |= row.lots.is_some_and(|lots| lots != 0);
        self.before = Some(row.clone());
    }

    /// What holds for the bars of all these rows.
    ///
    /// # Errors
    /// The first promise of [`Bars`](crate::Bars) that they break, with its line, field and text.
    pub(crate) fn settle(
        self,
        intake: Intake,
        understood: Understood,
        options: &LoadOptions,
        sha256: String,
    ) -> Result<Settled, DataError> {
        settle::settle(self, intake, understood, options, sha256)
    }
}

impl Sink for Survey {
    fn begin(&mut self, bar_seconds: Option<i64>) {
        *self = Self::of(&self.path, bar_seconds);
    }

    fn take(&mut self, row: &GridRow) -> Result<(), DataError> {
        self.push(row);
        Ok(())
    }
}

/// An extra column so far: whether some row has a value, and how many rows after the first that has one have none.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) any: bool,
    pub(super) missing: u64,
}

/// Two rows of one moment that differ: which of them is right cannot be told.
fn twice(path: &str, a: &GridRow, b: &GridRow) -> DataError {
    let (first, second) = (a.line.min(b.line), a.line.max(b.line));
    let other = if a.extra.is_empty() { " or volume" } else { ", volume or extra columns" };
    let problem = format!("is the same moment as line {first}, with other prices{other}");
    let fix = "remove one of the two rows, or name the symbol's column where there are several";
    DataError::cell(path, (second, "timestamp"), &show_moment(a.stamp_ns), problem, fix)
}
