//! [`Bars`]: what a file becomes. Columns of integers on an instrument's grid.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::{extra::ExtraColumn, heading::Heading, instrument::Instrument, source::SourceInfo};

/// Seconds of the year that rates and annual figures are stated for: 365 days.
pub const YEAR_SECONDS: i64 = 31_536_000;

const NS_PER_SECOND: i64 = 1_000_000_000;

/// Four price columns of equal length, in the instrument's price units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ohlc {
    /// First price of each bar.
    pub open: Vec<i32>,
    /// Highest price of each bar.
    pub high: Vec<i32>,
    /// Lowest price of each bar.
    pub low: Vec<i32>,
    /// Last price of each bar.
    pub close: Vec<i32>,
}

impl Ohlc {
    fn append(&mut self, next: Ohlc) {
        self.open.extend(next.open);
        self.high.extend(next.high);
        self.low.extend(next.low);
        self.close.extend(next.close);
    }

    /// All four, in the order of their names.
    pub(crate) fn columns(&mut self) -> [&mut Vec<i32>; 4] {
        [&mut self.open, &mut self.high, &mut self.low, &mut self.close]
    }

    /// Open, high, low and close of a row.
    pub(crate) fn row(&self, i: usize) -> [i32; 4] {
        [self.open[i], self.high[i], self.low[i], self.close[i]]
    }

    pub(crate) fn push(&mut self, row: [i32; 4]) {
        self.columns().into_iter().zip(row).for_each(|(column, price)| column.push(price));
    }

    pub(crate) fn set(&mut self, i: usize, row: [i32; 4]) {
        self.columns().into_iter().zip(row).for_each(|(column, price)| column[i] = price);
    }

    fn slice(&self, range: Range<usize>) -> Self {
        Self {
            open: self.open[range.clone()].to_vec(),
            high: self.high[range.clone()].to_vec(),
            low: self.low[range.clone()].to_vec(),
            close: self.close[range].to_vec(),
        }
    }
}

/// One bar: a row of [`Bars`], with all that they promise of it.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Moment it opens, ns UTC.
    pub open_ns: i64,
    /// Moment it closes, ns UTC.
    pub close_ns: i64,
    /// Open, high, low and close of the bid of a quote bar; its only prices otherwise. In price units.
    pub bid: [i32; 4],
    /// The same of the ask, on a quote bar.
    pub ask: Option<[i32; 4]>,
    /// Traded volume in lots.
    pub volume_lots: i64,
    /// Values of the extra columns; NaN before a column's first.
    pub extra: Vec<f64>,
}

/// Bit for bit: where a column has no value yet, no value is the same.
impl PartialEq for Bar {
    fn eq(&self, other: &Self) -> bool {
        let all = |bar: &Self| (bar.open_ns, bar.close_ns, bar.bid, bar.ask, bar.volume_lots);
        all(self) == all(other)
            && self.extra.iter().map(|x| x.to_bits()).eq(other.extra.iter().map(|x| x.to_bits()))
    }
}

impl Bar {
    /// Open, high, low and close of the mid in price units; for trade bars the prices themselves.
    pub fn mids(&self) -> [i32; 4] {
        self.mids2().map(half)
    }

    /// Twice the mids of open, high, low and close in price units: exact on any grid.
    pub fn mids2(&self) -> [i64; 4] {
        mids2(self.bid, self.ask)
    }
}

/// Bars of one instrument in time order: T rows, every column T long.
///
/// For every row: `open_ns < close_ns`, `close_ns` of a row is at most `open_ns` of the next, prices are positive with
/// `low <= open, close <= high`, and on quote bars the ask is at or above the bid. Row accessors panic past the end, as
/// slices do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bars {
    /// What is traded, and its units.
    pub instrument: Instrument,
    /// Moment each bar opens, ns UTC.
    pub open_ns: Vec<i64>,
    /// Moment each bar closes, ns UTC: from then on it may be seen.
    pub close_ns: Vec<i64>,
    /// Bid prices of quote bars; the only prices otherwise.
    pub bid: Ohlc,
    /// Ask prices, where the file quotes both sides.
    pub ask: Option<Ohlc>,
    /// Traded volume in lots, rounded down. Without volume in the file: the preset's, by bar length.
    pub volume_lots: Vec<i64>,
    /// Whether `volume_lots` was in the file.
    pub has_volume: bool,
    /// Columns of the file that are no part of a bar and were asked for.
    #[serde(default)]
    pub extra: Vec<ExtraColumn>,
    /// Where the bars came from.
    pub source: SourceInfo,
}

impl Bars {
    /// Number of bars, T.
    pub fn len(&self) -> usize {
        self.open_ns.len()
    }

    /// Whether there is no bar; loading never returns that.
    pub fn is_empty(&self) -> bool {
        self.open_ns.is_empty()
    }

    /// One row.
    pub fn bar(&self, i: usize) -> Bar {
        Bar {
            open_ns: self.open_ns[i],
            close_ns: self.close_ns[i],
            bid: self.bid.row(i),
            ask: self.ask.as_ref().map(|ask| ask.row(i)),
            volume_lots: self.volume_lots[i],
            extra: self.extra.iter().map(|column| column.at(i).unwrap_or(f64::NAN)).collect(),
        }
    }

    /// All but the rows.
    pub fn heading(&self) -> Heading {
        Heading {
            instrument: self.instrument.clone(),
            source: self.source.clone(),
            rows: self.len(),
            span_ns: self.open_ns.first().copied().zip(self.close_ns.last().copied()).unwrap_or_default(),
            is_quote: self.is_quote(),
            has_volume: self.has_volume,
            extra: self.extra.iter().map(|column| column.name.clone()).collect(),
        }
    }

    /// Whether bid and ask are apart.
    pub fn is_quote(&self) -> bool {
        self.ask.is_some()
    }

    /// Bid plus ask of the close, twice the mid: exact on any grid, and twice the close of trade bars.
    pub fn mid_close2(&self, i: usize) -> i64 {
        sum(self.bid.close[i], self.ask.as_ref().map(|a| a.close[i]))
    }

    /// Mid of the open in price units; exact, for the grid of quote bars holds their mids.
    pub fn mid_open(&self, i: usize) -> i32 {
        half(sum(self.bid.open[i], self.ask.as_ref().map(|a| a.open[i])))
    }

    /// Mid of the highs in price units.
    pub fn mid_high(&self, i: usize) -> i32 {
        half(sum(self.bid.high[i], self.ask.as_ref().map(|a| a.high[i])))
    }

    /// Mid of the lows in price units.
    pub fn mid_low(&self, i: usize) -> i32 {
        half(sum(self.bid.low[i], self.ask.as_ref().map(|a| a.low[i])))
    }

    /// Mid of the close in price units: the mark.
    pub fn mid_close(&self, i: usize) -> i32 {
        half(self.mid_close2(i))
    }

    /// All mids at once, T rows; for trade bars the prices themselves.
    pub fn mids(&self) -> Ohlc {
        let column = |of: fn(&Self, usize) -> i32| (0..self.len()).map(|i| of(self, i)).collect();
        Ohlc {
            open: column(Self::mid_open),
            high: column(Self::mid_high),
            low: column(Self::mid_low),
            close: column(Self::mid_close),
        }
    }

    /// Ask minus bid at the close in price units, or `None` on trade bars.
    pub fn spread_units(&self, i: usize) -> Option<i32> {
        self.ask.as_ref().map(|a| a.close[i] - self.bid.close[i])
    }

    /// Whole seconds from the previous bar's close to this one's open, rounded up; 0 for the first bar.
    pub fn gap_seconds(&self, i: usize) -> i64 {
        if i == 0 { 0 } else { seconds_up(self.close_ns[i - 1], self.open_ns[i]) }
    }

    /// Whole seconds from open to close, rounded up.
    pub fn bar_seconds(&self, i: usize) -> i64 {
        seconds_up(self.open_ns[i], self.close_ns[i])
    }

    /// Bars per year of 31,536,000 s, counted: rows over the time from first open to last close. 0 when empty.
    pub fn periods_per_year(&self) -> f64 {
        self.heading().periods_per_year()
    }

    /// A copy of the rows in `range`, cut to what exists. The first row of a copy has no gap before it.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let end = range.end.min(self.len());
        let range = range.start.min(end)..end;
        Self {
            instrument: self.instrument.clone(),
            open_ns: self.open_ns[range.clone()].to_vec(),
            close_ns: self.close_ns[range.clone()].to_vec(),
            bid: self.bid.slice(range.clone()),
            ask: self.ask.as_ref().map(|a| a.slice(range.clone())),
            volume_lots: self.volume_lots[range.clone()].to_vec(),
            has_volume: self.has_volume,
            extra: self.extra.iter().map(|column| column.slice(range.clone())).collect(),
            source: self.source.clone(),
        }
    }

    /// These bars and then `next`, later bars of the same instrument from another file. The time between the two is a gap like
    /// any other; opens, synthetic or not, stay as each file's.
    ///
    /// # Errors
    /// [`DataError::File`](crate::DataError) for another instrument, kind of bars or order in time.
    pub fn append(mut self, next: Bars) -> Result<Self, DataError> {
        let mut heading = self.heading();
        heading.append(next.heading())?;
        self.open_ns.extend(next.open_ns);
        self.close_ns.extend(next.close_ns);
        self.bid.append(next.bid);
        if let (Some(ask), Some(more)) = (&mut self.ask, next.ask) {
            ask.append(more);
        }
        self.volume_lots.extend(next.volume_lots);
        self.extra.iter_mut().zip(next.extra).for_each(|(column, more)| column.append(more));
        self.source = heading.source;
        Ok(self)
    }
}

/// Twice the mids of a row's prices.
pub(crate) fn mids2(bid: [i32; 4], ask: Option<[i32; 4]>) -> [i64; 4] {
    std::array::from_fn(|i| sum(bid[i], ask.map(|ask| ask[i])))
}

fn sum(bid: i32, ask: Option<i32>) -> i64 {
    i64::from(bid) + i64::from(ask.unwrap_or(bid))
}

fn half(two: i64) -> i32 {
    // The mean of two i32 is an i32.
    (two / 2) as i32
}

/// Whole seconds from one moment to another, rounded up.
pub(crate) fn seconds_up(from_ns: i64, to_ns: i64) -> i64 {
    // The difference of two i64 fits i128; in seconds it fits i64 again.
    let ns = i128::from(to_ns) - i128::from(from_ns);
    let second = i128::from(NS_PER_SECOND);
    ((ns + second - 1).div_euclid(second)) as i64
}
