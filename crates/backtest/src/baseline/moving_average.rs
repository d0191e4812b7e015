use crate::{Backtest, Strategy};

/// Days of the fast mean.
pub const FAST_DAYS: f64 = 5.0;
/// Days of the slow mean.
pub const SLOW_DAYS: f64 = 20.0;
const LONG: [u8; 3] = [8, 0, 2];
const SHORT: [u8; 3] = [0, 0, 2];

/// The cross of two moving averages (Brock, Lakonishok and LeBaron 1992): full long at the closes where the mean of the last
/// 5 days' closes is above that of the last 20 days', full short where it is below, flat where they are equal or bars are
/// missing. Days are bars of a day as counted in the training window; at least 2 and 3 bars. Market orders at the open of the
/// next bar. Bars before the window are read too, for they are known.
pub fn moving_average(backtest: &Backtest<'_>) -> Strategy {
    let (market, window) = (backtest.market(), backtest.window());
    let (fast, slow) = lengths(backtest);
    let rows = window.rows.start..window.rows.start + window.decisions();
    let closes: Vec<i64> = (0..rows.end).map(|row| i64::from(market.bars.mid_close(row))).collect();
    Strategy::scripted("moving averages", actions(&closes, fast, slow, rows))
}

/// Bars of the fast and of the slow mean.
fn lengths(backtest: &Backtest<'_>) -> (usize, usize) {
    let bars = |days: f64| (days * backtest.market().bars_per_day).round() as usize;
    let fast = bars(FAST_DAYS).max(2);
    (fast, bars(SLOW_DAYS).max(fast + 1))
}

/// What it does, and where it can't.
pub(super) fn words(backtest: &Backtest<'_>) -> String {
    let rule = "The target is full long at closes where the mean close of the last 5 days is above that of the last 20, and full \
                short where it is below.";
    let ((_, slow), decisions) = (lengths(backtest), backtest.window().decisions());
    match missing(slow, backtest.window().rows.start).min(decisions) {
        0 => rule.to_owned(),
        flat => format!(
            "{rule} The first {flat} of {decisions} bars have fewer than {slow} up to them: it is flat there."
        ),
    }
}

/// How many rows from `start` on have too few bars up to them for the slow mean.
fn missing(slow: usize, start: usize) -> usize {
    (slow - 1).saturating_sub(start)
}

/// The actions at `rows` of `closes`, in integers: sum of fast closes times slow against sum of slow times fast.
fn actions(closes: &[i64], fast: usize, slow: usize, rows: std::ops::Range<usize>) -> Vec<[u8; 3]> {
    let mut sums = vec![0_i128];
    sums.extend(closes.iter().scan(0_i128, |sum, c| {
        *sum += i128::from(*c);
        Some(*sum)
    }));
    let sum = |end: usize, bars: usize| sums[end] - sums[end - bars];
    rows.map(|row| {
        let end = row + 1;
        if end < slow {
            return crate::FLAT;
        }
        match (sum(end, fast) * slow as i128).cmp(&(sum(end, slow) * fast as i128)) {
            std::cmp::Ordering::Greater => LONG,
            std::cmp::Ordering::Less => SHORT,
            std::cmp::Ordering::Equal => crate::FLAT,
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Means of 2 against those of 3: 1.5 of 2, 1; then 2.5 > 2, 2 = 2, 1 < 5/3.
        let closes = [1, 2, 3, 1, 1];
        assert_eq!(actions(&closes, 2, 3, 1..5), [crate::FLAT, LONG, crate::FLAT, SHORT]);
        assert_eq!((missing(3, 0), missing(3, 1), missing(3, 2), missing(3, 9)), (2, 1, 0, 0));
        // What comes later changes nothing earlier.
        assert_eq!(actions(&closes[..4], 2, 3, 1..4), actions(&closes, 2, 3, 1..4));
    }
}
