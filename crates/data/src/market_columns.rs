//! Causal integer columns that the market simulation reads beside the prices.
//!
//! Row t uses bars up to and including t, so it is known at the close of t. Integer arithmetic throughout.

use std::collections::VecDeque;

use crate::bars::{Bars, Ohlc};

/// Bars in the mean of true ranges.
pub const ATR_BARS: usize = 24;
/// Bars in the mean of squared moves and in the mean volume: a week of hours.
pub const SLOW_BARS: usize = 168;

/// One row per bar, T rows each. Windows that reach before the first bar use the bars that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketColumns {
    /// ATR24 in price units: mean of the true range `max(H, C') - min(L, C')` (C' the close before; mids on quote bars) of
    /// the last 24 bars, rounded up, at least 1. A wide gap counts, so half-spreads widen after one.
    pub atr24_units: Vec<i32>,
    /// Bar volatility in price units: root of the mean squared move of the last 168 bars, rounded up, at least 1. The move
    /// is close to close, and open to close in the first bar after a time gap, for what happened while the market was
    /// closed is no bar's volatility.
    pub sigma_units: Vec<i32>,
    /// Mean volume of the last 168 bars in lots, rounded down (less volume, more impact), at least 1.
    pub mean_volume_lots: Vec<i64>,
    /// Seconds from the previous close to this bar's open, rounded up; 0 in the first row.
    pub gap_seconds: Vec<i32>,
    /// Seconds from this bar's open to its close, rounded up, at least 1.
    pub bar_seconds: Vec<i32>,
}

impl MarketColumns {
    /// Computes the columns of all bars.
    pub fn from(bars: &Bars) -> Self {
        let mids = bars.mids();
        let rows = 0..bars.len();
        let mut range = Rolling::new(ATR_BARS);
        let mut square = Rolling::new(SLOW_BARS);
        let mut volume = Rolling::new(SLOW_BARS);
        Self {
            atr24_units: rows
                .clone()
                .map(|t| {
                    range.push(true_range(&mids, t));
                    at_least_one(range.sum.div_ceil(range.count()))
                })
                .collect(),
            sigma_units: rows
                .clone()
                .map(|t| {
                    let from =
                        if t == 0 || bars.gap_seconds(t) > 0 { mids.open[t] } else { mids.close[t - 1] };
                    let step = u128::from(mids.close[t].abs_diff(from));
                    square.push(step * step);
                    at_least_one(root_up(square.sum.div_ceil(square.count())))
                })
                .collect(),
            mean_volume_lots: rows
                .clone()
                .map(|t| {
                    volume.push(u128::from(bars.volume_lots[t].unsigned_abs()));
                    i64::try_from((volume.sum / volume.count()).max(1)).unwrap_or(i64::MAX)
                })
                .collect(),
            gap_seconds: rows.clone().map(|t| narrow(bars.gap_seconds(t))).collect(),
            bar_seconds: rows.map(|t| narrow(bars.bar_seconds(t)).max(1)).collect(),
        }
    }
}

fn true_range(mids: &Ohlc, t: usize) -> u128 {
    let (high, low) = match t.checked_sub(1) {
        Some(before) => (mids.high[t].max(mids.close[before]), mids.low[t].min(mids.close[before])),
        None => (mids.high[t], mids.low[t]),
    };
    u128::from(high.abs_diff(low))
}

/// Sum of the last `length` values.
struct Rolling {
    length: usize,
    values: VecDeque<u128>,
    sum: u128,
}

impl Rolling {
    fn new(length: usize) -> Self {
        Self { length, values: VecDeque::with_capacity(length + 1), sum: 0 }
    }

    fn push(&mut self, value: u128) {
        self.values.push_back(value);
        self.sum += value;
        if self.values.len() > self.length {
            self.sum -= self.values.pop_front().unwrap_or(0);
        }
    }

    fn count(&self) -> u128 {
        self.values.len().max(1) as u128
    }
}

fn root_up(square: u128) -> u128 {
    let floor = square.isqrt();
    floor + u128::from(floor * floor < square)
}

fn at_least_one(value: u128) -> i32 {
    i32::try_from(value.max(1)).unwrap_or(i32::MAX)
}

fn narrow(seconds: i64) -> i32 {
    // 68 years and more read as 68 years.
    i32::try_from(seconds).unwrap_or(i32::MAX)
}
