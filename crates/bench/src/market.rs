//! A market that is long enough: 65,536 environments on a year of hourly bars would replay the same paths.

use foxhunt_core::rng::{Purpose, draw};
use foxhunt_data::{Bars, Ohlc, SourceInfo, presets};

/// Seconds of a bar.
pub const BAR_SECONDS: i64 = 60;
const SECOND_NS: i64 = 1_000_000_000;
/// 1 January 2001, ns UTC.
const START_NS: i64 = 978_307_200 * SECOND_NS;
/// Price at the start, units of 1e-5.
const START: i32 = 110_000;
/// Largest move from open to close, units; a step has a standard deviation of 0.58 times it, about 1 bp.
const MOVE: u32 = 18;
const SEED: u64 = 2;

/// `rows` bars of one minute of a random walk at the price, costs and rules of EUR/USD, without a gap: the same on every
/// machine. The walk is reflected at half and at twice its start, which 2^20 bars seldom reach.
pub fn random_walk(rows: usize) -> Bars {
    let (mut open, mut high, mut low, mut close) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut price = START;
    for row in 0..rows {
        let words = draw(SEED, 0, 0x0057_a1c8, Purpose::Sample, row as u32);
        let within = |word: u32, most: u32| ((u64::from(word) * u64::from(most + 1)) >> 32) as i32;
        let change = within(words[0], 2 * MOVE) - MOVE as i32;
        let next = price + change;
        let next = if (START / 2..2 * START).contains(&next) { next } else { price - change };
        open.push(price);
        close.push(next);
        high.push(price.max(next) + within(words[1], MOVE / 2));
        low.push(price.min(next) - within(words[2], MOVE / 2));
        price = next;
    }
    let open_ns: Vec<i64> = (0..rows as i64).map(|t| START_NS + t * BAR_SECONDS * SECOND_NS).collect();
    Bars {
        instrument: presets::eurusd(),
        close_ns: open_ns.iter().map(|t| t + BAR_SECONDS * SECOND_NS).collect(),
        open_ns,
        bid: Ohlc { open, high, low, close },
        ask: None,
        volume_lots: vec![1_000_000; rows],
        has_volume: false,
        extra: Vec::new(),
        source: SourceInfo::made(format!("random walk of {rows} bars"), String::new(), BAR_SECONDS, rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_is_made_of_bars_and_repeats_nothing() {
        let bars = random_walk(5_000);
        let b = &bars.bid;
        for i in 0..bars.len() {
            assert!(b.low[i] <= b.open[i].min(b.close[i]) && b.high[i] >= b.open[i].max(b.close[i]), "{i}");
            assert!(b.low[i] > 0);
            assert!(i == 0 || b.open[i] == b.close[i - 1], "{i}");
        }
        let moves: Vec<i32> = b.open.iter().zip(&b.close).map(|(o, c)| c - o).collect();
        let (rising, falling) =
            (moves.iter().filter(|m| **m > 0).count(), moves.iter().filter(|m| **m < 0).count());
        assert!(rising.abs_diff(falling) < 400, "{rising} up, {falling} down");
        assert_ne!(moves[..64], moves[64..128]);
        assert_eq!(bars, random_walk(5_000));
    }
}
