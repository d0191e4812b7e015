//! The integer columns of the market simulation: by definition, and blind to later bars.

use foxhunt_data::{Bars, MarketColumns, sample};

/// The same bars up to `t`, and after it other prices, volumes and times.
fn other_future(bars: &Bars, t: usize) -> Bars {
    let mut bars = bars.clone();
    for i in t + 1..bars.len() {
        let wild = (i as i32).wrapping_mul(7_919) % 50_000;
        (bars.bid.low[i], bars.bid.high[i]) = (100_000 + wild, 300_000 + wild);
        (bars.bid.open[i], bars.bid.close[i]) = (150_000 + wild, 250_000 - wild);
        bars.volume_lots[i] = i64::from(wild);
        bars.open_ns[i] += (i as i64) * 1_000_000_000_000;
        bars.close_ns[i] += (i as i64) * 1_001_000_000_000;
    }
    bars
}

#[test]
fn no_column_reads_a_later_bar() {
    let bars = sample().slice(0..600);
    let before = MarketColumns::from(&bars);
    for t in [0, 23, 24, 167, 168, 300, 598] {
        let after = MarketColumns::from(&other_future(&bars, t));
        assert_eq!(before.atr24_units[..=t], after.atr24_units[..=t]);
        assert_eq!(before.sigma_units[..=t], after.sigma_units[..=t]);
        assert_eq!(before.mean_volume_lots[..=t], after.mean_volume_lots[..=t]);
        assert_eq!(before.gap_seconds[..=t], after.gap_seconds[..=t]);
        assert_eq!(before.bar_seconds[..=t], after.bar_seconds[..=t]);
        // And each does read its own bar.
        assert_ne!(before.atr24_units[t + 1], after.atr24_units[t + 1]);
        assert_ne!(before.sigma_units[t + 1], after.sigma_units[t + 1]);
        assert_ne!(before.mean_volume_lots[t + 1], after.mean_volume_lots[t + 1]);
        assert_ne!(before.gap_seconds[t + 1], after.gap_seconds[t + 1]);
        assert_ne!(before.bar_seconds[t + 1], after.bar_seconds[t + 1]);
    }
}

#[test]
fn columns_equal_their_definitions() {
    let bars = sample();
    let columns = MarketColumns::from(&bars);
    let p = &bars.bid;
    for t in [200, 1_234, 6_224] {
        let ranges: i64 = (t - 23..=t)
            .map(|i| i64::from(p.high[i].max(p.close[i - 1]) - p.low[i].min(p.close[i - 1])))
            .sum();
        assert_eq!(i64::from(columns.atr24_units[t]), (ranges + 23) / 24);
        let squares: i64 = (t - 167..=t)
            .map(|i| {
                let from = if bars.gap_seconds(i) > 0 { p.open[i] } else { p.close[i - 1] };
                i64::from(p.close[i] - from).pow(2)
            })
            .sum();
        let sigma = i64::from(columns.sigma_units[t]);
        let mean_square = (squares + 167) / 168;
        assert!(sigma * sigma >= mean_square && (sigma - 1) * (sigma - 1) < mean_square);
        let volume: i64 = bars.volume_lots[t - 167..=t].iter().sum();
        assert_eq!(columns.mean_volume_lots[t], volume / 168);
        assert_eq!((columns.gap_seconds[t], columns.bar_seconds[t]), (bars.gap_seconds(t) as i32, 3_600));
    }
}

#[test]
fn still_bars_without_volume_give_ones() {
    let mut bars = sample().slice(0..200);
    for i in 0..200 {
        for column in [&mut bars.bid.open, &mut bars.bid.high, &mut bars.bid.low, &mut bars.bid.close] {
            column[i] = 200_000;
        }
        bars.volume_lots[i] = 0;
    }
    let columns = MarketColumns::from(&bars);
    assert!(columns.atr24_units.iter().chain(&columns.sigma_units).all(|&v| v == 1));
    assert!(columns.mean_volume_lots.iter().all(|&v| v == 1));
}
