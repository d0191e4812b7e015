//! Moves between bars that look like splits of shares that nobody adjusted: an agent would learn to trade them.

use crate::{bars::Bar, histogram::Histogram};

/// Splits that are common, as new shares for old ones.
const RATIOS: [(u32, u32); 9] = [(2, 1), (3, 1), (3, 2), (4, 1), (5, 1), (7, 1), (10, 1), (15, 1), (20, 1)];
/// A price opens within this of the close before, divided by the ratio.
const TOLERANCE: f64 = 0.07;
/// A move this many times the usual one is no ordinary move.
const TIMES_USUAL: f64 = 8.0;

/// A move that looks like a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The bar after it.
    pub row: usize,
    /// When that bar opens, ns UTC.
    pub open_ns: i64,
    /// New shares for old ones; the reverse where shares were put together.
    pub split: (u32, u32),
}

impl Jump {
    /// The ratio in words: `2:1`.
    pub fn ratio(&self) -> String {
        format!("{}:{}", self.split.0, self.split.1)
    }
}

/// Jumps that are kept. A file with more is no series of prices, and memory must end somewhere.
const MAX_JUMPS: usize = 1 << 16;

/// Finds moves from a close to the next open whose ratio is that of a split, far beyond the usual move.
pub(crate) struct Jumps {
    rows: usize,
    close: Option<f64>,
    /// Moves from close to close, as absolute logarithms to three decimal digits.
    moves: Histogram,
    /// Jumps near a split's ratio, with the absolute logarithm of the move.
    near: Vec<(Jump, f64)>,
}

impl Jumps {
    pub(crate) fn new() -> Self {
        Self { rows: 0, close: None, moves: Histogram::new(11), near: Vec::new() }
    }

    pub(crate) fn push(&mut self, bar: &Bar) {
        let [open, _, _, close] = bar.mids().map(f64::from);
        if let Some(before) = self.close {
            self.moves.push((close / before).ln().abs());
            let change = open / before;
            let near = |(new, old): &(u32, u32)| {
                (change * f64::from(*new) / f64::from(*old) - 1.0).abs() < TOLERANCE
            };
            let ratios = RATIOS.into_iter().chain(RATIOS.map(|(new, old)| (old, new)));
            if self.near.len() < MAX_JUMPS
                && let Some(split) = ratios.into_iter().find(near)
            {
                let jump = Jump { row: self.rows, open_ns: bar.open_ns, split };
                self.near.push((jump, change.ln().abs()));
            }
        }
        self.close = Some(close);
        self.rows += 1;
    }

    pub(crate) fn finish(self) -> Vec<Jump> {
        let least = TIMES_USUAL * self.moves.median().unwrap_or(0.0);
        self.near.into_iter().filter(|(_, change)| *change >= least).map(|(jump, _)| jump).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bars;

    #[test]
    fn a_split_is_found_and_ordinary_moves_are_not() {
        let split_like = |bars: &Bars| {
            let mut jumps = Jumps::new();
            (0..bars.len()).for_each(|i| jumps.push(&bars.bar(i)));
            jumps.finish()
        };
        let mut bars = crate::sample().slice(0..500);
        assert_eq!(split_like(&bars), []);
        for side in [&mut bars.bid.open, &mut bars.bid.high, &mut bars.bid.low, &mut bars.bid.close] {
            side[300..].iter_mut().for_each(|p| *p /= 2);
            side[400..].iter_mut().for_each(|p| *p *= 10);
        }
        let found: Vec<(usize, String)> = split_like(&bars).iter().map(|j| (j.row, j.ratio())).collect();
        assert_eq!(found, [(300, "2:1".to_owned()), (400, "1:10".to_owned())]);
    }
}
