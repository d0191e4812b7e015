//! Price and volume together.

use super::directional::line_slope;

/// Applies `f` to every full run of `n` rows, given by their indices; NaN before.
fn runs(rows: usize, n: usize, f: impl Fn(std::ops::Range<usize>) -> f64) -> Vec<f64> {
    let n = n.max(1);
    (0..rows).map(|t| if t + 1 < n { f64::NAN } else { f(t + 1 - n..t + 1) }).collect()
}

/// Slope, per row, of the least-squares line through `n` rows of on-balance volume, over the mean volume of those rows; first
/// value in row `n - 1`; 0 without volume. The balance is counted from the window's first row: a slope doesn't know where a sum
/// began.
pub fn balance_slope(close: &[f64], volume: &[f64], n: usize) -> Vec<f64> {
    let n = n.max(2);
    runs(close.len(), n, |run| {
        let mean = volume[run.clone()].iter().sum::<f64>() / n as f64;
        if mean == 0.0 {
            return 0.0;
        }
        let mut balance = 0.0;
        let walk: Vec<f64> = run
            .clone()
            .map(|t| {
                if t > run.start {
                    let step = close[t] - close[t - 1];
                    balance += if step == 0.0 { 0.0 } else { step.signum() * volume[t] };
                }
                balance
            })
            .collect();
        line_slope(&walk) / mean
    })
}

/// Mean typical price of `n` rows, weighted by volume; the plain mean without volume. First value in row `n - 1`.
pub fn vwap(high: &[f64], low: &[f64], close: &[f64], volume: &[f64], n: usize) -> Vec<f64> {
    let typical = |t: usize| (high[t] + low[t] + close[t]) / 3.0;
    runs(close.len(), n, |run| {
        let all: f64 = volume[run.clone()].iter().sum();
        if all == 0.0 {
            let count = run.len() as f64;
            return run.map(typical).sum::<f64>() / count;
        }
        run.map(|t| typical(t) * (volume[t] / all)).sum()
    })
}

/// Amihud 2002: mean of |log return| / (price times volume) over the last `n` rows, those without volume left out; 0 if none
/// has any. The first row has no return, and the first value is in row `n`.
pub fn amihud(log_return: &[f64], close: &[f64], volume: &[f64], n: usize) -> Vec<f64> {
    let mean = runs(close.len(), n, |run| {
        let traded = run.filter(|&t| volume[t] > 0.0);
        let (sum, count) = traded
            .fold((0.0, 0.0), |(s, c), t| (s + log_return[t].abs() / (close[t] * volume[t]), c + 1.0_f64));
        sum / count.max(1.0)
    });
    mean.into_iter().enumerate().map(|(t, v)| if t < n { f64::NAN } else { v }).collect()
}

/// Chaikin's money flow, -1 to 1: volume weighted by where each row closed in its range, over all volume of `n` rows; a row
/// without a range counts as its middle. First value in row `n - 1`; 0 without volume.
pub fn chaikin(high: &[f64], low: &[f64], close: &[f64], volume: &[f64], n: usize) -> Vec<f64> {
    let place = |t: usize| {
        let range = high[t] - low[t];
        if range == 0.0 { 0.0 } else { (2.0 * close[t] - high[t] - low[t]) / range }
    };
    runs(close.len(), n, |run| {
        let all: f64 = volume[run.clone()].iter().sum();
        if all == 0.0 { 0.0 } else { run.map(|t| place(t) * volume[t]).sum::<f64>() / all }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let (close, volume) = ([1.0, 2.0, 3.0, 2.0], [4.0, 4.0, 4.0, 4.0]);
        // Balances 0, 4, 8 and 0, 4, 0 from the window's start: slopes 4 and 0, over a mean of 4.
        assert_eq!(balance_slope(&close, &volume, 3)[3], 0.0);
        assert_eq!(balance_slope(&[2.0, 1.0, 2.0, 3.0], &volume, 3)[3], 1.0);
        assert_eq!(vwap(&close, &close, &close, &[1.0, 3.0, 0.0, 0.0], 2)[1..], [1.75, 2.0, 2.5]);
        assert_eq!(
            amihud(&[0.0, 1.0, -1.0, 0.5], &close, &[0.0, 0.0, 2.0, 0.0], 2)[2..],
            [1.0 / 6.0, 1.0 / 6.0]
        );
        assert_eq!(chaikin(&[2.0; 2], &[1.0; 2], &[2.0, 1.0], &[3.0, 1.0], 2)[1], 0.5);
        assert_eq!(chaikin(&[2.0; 2], &[1.0; 2], &[2.0, 1.0], &[0.0; 2], 2)[1], 0.0);
    }
}
