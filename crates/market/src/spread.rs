//! Bars whose quoted spread is wider or narrower.

use crate::{Bar, BarTable, TableError};

impl BarTable {
    /// The bars with `factor` times the quoted spread about the same mids, units; `factor` 1 gives the same bars, and so do trade
    /// bars with any.
    ///
    /// ```text
    /// bid' = bid - ceil((k - 1) (ask - bid) / 2),   ask' = bid' + k (ask - bid)
    /// ```
    ///
    /// so that `floor((bid' + ask') / 2)`, the mark, is what it was, and at k = 0 both sides are it; of an odd sum the half unit goes
    /// down. Where spreads differ within a bar its high and low are widened to hold its open and close.
    ///
    /// # Errors
    /// A bar whose bid would fall below one unit, or whose ask would rise above `highest`.
    pub fn bars_with_spread(&self, factor: i32, highest: i32) -> Result<Vec<Bar>, TableError> {
        self.bars.iter().enumerate().map(|(row, bar)| with_spread(row, bar, factor, highest)).collect()
    }
}

fn with_spread(row: usize, bar: &Bar, factor: i32, highest: i32) -> Result<Bar, TableError> {
    if factor == 1 || bar.bid == bar.ask {
        return Ok(*bar);
    }
    let factor = i64::from(factor);
    let (mut bid, mut ask) = ([0_i64; 4], [0_i64; 4]);
    for k in 0..4 {
        let spread = i64::from(bar.ask[k]) - i64::from(bar.bid[k]);
        bid[k] = i64::from(bar.bid[k]) - ((factor - 1) * spread + 1).div_euclid(2);
        ask[k] = bid[k] + factor * spread;
    }
    for side in [&mut bid, &mut ask] {
        let [open, high, low, close] = *side;
        side[1] = high.max(open).max(close);
        side[2] = low.min(open).min(close);
    }
    let wrong = |column, problem| TableError::Row { row, column, problem };
    if bid[2] < 1 {
        return Err(wrong("bid", format!("{factor} times the quoted spread lowers it to {}", bid[2])));
    }
    if ask[1] > i64::from(highest) {
        return Err(wrong(
            "ask",
            format!("{factor} times the quoted spread raises it to {}, beyond {highest}", ask[1]),
        ));
    }
    // In range: between 1 and `highest`.
    Ok(Bar { bid: bid.map(|x| x as i32), ask: ask.map(|x| x as i32), ..*bar })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(bid: [i32; 4], ask: [i32; 4]) -> BarTable {
        BarTable { bars: vec![Bar { bid, ask, ..Bar::default() }], context: Vec::new() }
    }

    fn scaled(table: &BarTable, factor: i32) -> ([i32; 4], [i32; 4]) {
        let bar = table.bars_with_spread(factor, 10_000).unwrap()[0];
        (bar.bid, bar.ask)
    }

    #[test]
    fn half_the_spread_on_either_side_of_the_mid_times_the_factor() {
        let table = quotes([100, 120, 90, 110], [104, 124, 94, 116]);
        assert_eq!(scaled(&table, 0), ([102, 122, 92, 113], [102, 122, 92, 113]));
        assert_eq!(table.bars_with_spread(1, 0).unwrap(), table.bars, "bit for bit");
        assert_eq!(scaled(&table, 2), ([98, 118, 88, 107], [106, 126, 96, 119]));
        assert_eq!(scaled(&table, 3), ([96, 116, 86, 104], [108, 128, 98, 122]));
        let trades = quotes([100, 120, 90, 110], [100, 120, 90, 110]);
        assert_eq!(scaled(&trades, 3), (trades.bars[0].bid, trades.bars[0].ask));
    }

    #[test]
    fn the_mark_stays_where_the_sum_is_odd() {
        for (bid, ask) in [(100, 103), (101, 104), (100, 101), (70, 77)] {
            let table = quotes([bid; 4], [ask; 4]);
            for factor in 0..4 {
                let ([b, ..], [a, ..]) = scaled(&table, factor);
                assert_eq!(
                    ((b + a).div_euclid(2), a - b),
                    ((bid + ask) / 2, factor * (ask - bid)),
                    "{bid} {ask} x {factor}"
                );
            }
        }
    }

    /// The spread at the open is much wider than at the high and the low.
    #[test]
    fn a_bar_holds_its_open_and_close() {
        let table = quotes([100, 112, 100, 110], [120, 120, 104, 114]);
        let (bid, ask) = scaled(&table, 3);
        assert_eq!((bid, ask), ([80, 106, 80, 106], [140, 140, 108, 118]));
        for [open, high, low, close] in [bid, ask] {
            assert!(low <= open.min(close) && high >= open.max(close));
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let table = quotes([3; 4], [9; 4]);
        let error = table.bars_with_spread(3, 1_000).unwrap_err().to_string();
        assert_eq!(error, "row 0, bid: 3 times the quoted spread lowers it to -3");
        let table = quotes([10; 4], [16; 4]);
        let error = table.bars_with_spread(2, 18).unwrap_err().to_string();
        assert_eq!(error, "row 0, ask: 2 times the quoted spread raises it to 19, beyond 18");
    }
}
