//! Moves between bars that look like splits of shares that nobody adjusted: an agent would learn to trade them.

use crate::bars::Bars;

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

/// All moves from a close to the next open whose ratio is that of a split, far beyond the usual move.
pub(crate) fn split_like(bars: &Bars) -> Vec<Jump> {
    let change = |i: usize| f64::from(bars.mid_open(i)) / f64::from(bars.mid_close(i - 1));
    let mut moves: Vec<f64> = (1..bars.len())
        .map(|i| f64::from(bars.mid_close(i)) / f64::from(bars.mid_close(i - 1)))
        .map(|r| r.ln().abs())
        .collect();
    moves.sort_unstable_by(f64::total_cmp);
    let usual = moves.get(moves.len() / 2).copied().unwrap_or(0.0);
    let found = |i: usize| {
        let change = change(i);
        if change.ln().abs() < TIMES_USUAL * usual {
            return None;
        }
        let near =
            |(new, old): (u32, u32)| (change * f64::from(new) / f64::from(old) - 1.0).abs() < TOLERANCE;
        let split = RATIOS.into_iter().chain(RATIOS.map(|(new, old)| (old, new))).find(|r| near(*r))?;
        Some(Jump { row: i, open_ns: bars.open_ns[i], split })
    };
    (1..bars.len()).filter_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_is_found_and_ordinary_moves_are_not() {
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
