//! Recursive indicators, as TA-Lib defines and seeds them.

/// Exponential moving average with factor 2 / (n + 1), seeded with the mean of the `n` rows up to row `seed_at`.
fn ema_from(x: &[f64], n: usize, seed_at: usize) -> Vec<f64> {
    let mut out = vec![f64::NAN; x.len()];
    let n = n.max(1);
    if seed_at >= x.len() || seed_at + 1 < n {
        return out;
    }
    let k = 2.0 / (n as f64 + 1.0);
    let mut value = x[seed_at + 1 - n..=seed_at].iter().sum::<f64>() / n as f64;
    out[seed_at] = value;
    for t in seed_at + 1..x.len() {
        value += k * (x[t] - value);
        out[t] = value;
    }
    out
}

/// Exponential moving average of `n` rows; first value in row n - 1.
pub fn ema(x: &[f64], n: usize) -> Vec<f64> {
    ema_from(x, n, n.max(1) - 1)
}

/// Moving average convergence and divergence.
#[derive(Clone, Debug)]
pub struct Macd {
    /// Fast average less slow average; first value in row `slow - 1`.
    pub line: Vec<f64>,
    /// Average of the line; first value in row `slow + signal - 2`.
    pub signal: Vec<f64>,
}

/// MACD with three lengths (commonly 12, 26, 9). The fast average is seeded in the row of the slow one's seed.
pub fn macd(x: &[f64], fast: usize, slow: usize, signal: usize) -> Macd {
    let first = slow.max(1) - 1;
    let (fast, slow) = (ema_from(x, fast, first), ema_from(x, slow, first));
    let line: Vec<f64> = fast.iter().zip(&slow).map(|(f, s)| f - s).collect();
    let known = line.get(first..).unwrap_or_default();
    let mut padded = vec![f64::NAN; line.len() - known.len()];
    padded.extend(ema(known, signal));
    Macd { line, signal: padded }
}

/// Wilder's smoothing: the mean of `x[from..from + n]` in row `from + n - 1`, then `(value * (n - 1) + x) / n`.
fn wilder(x: &[f64], n: usize, from: usize) -> Vec<f64> {
    let n = n.max(1);
    let mut out = vec![f64::NAN; x.len()];
    let seed_at = from + n - 1;
    if seed_at >= x.len() {
        return out;
    }
    let count = n as f64;
    let mut value = x[from..=seed_at].iter().sum::<f64>() / count;
    out[seed_at] = value;
    for t in seed_at + 1..x.len() {
        value = (value * (count - 1.0) + x[t]) / count;
        out[t] = value;
    }
    out
}

/// Relative strength index, 0 to 100; first value in row `n`. Without any move in the window it is 50 (TA-Lib: 0), for a
/// market that stands still is not at its weakest.
pub fn rsi(close: &[f64], n: usize) -> Vec<f64> {
    let step = |t: usize| if t == 0 { 0.0 } else { close[t] - close[t - 1] };
    let up: Vec<f64> = (0..close.len()).map(|t| step(t).max(0.0)).collect();
    let down: Vec<f64> = (0..close.len()).map(|t| (-step(t)).max(0.0)).collect();
    let (up, down) = (wilder(&up, n, 1), wilder(&down, n, 1));
    up.iter().zip(&down).map(|(u, d)| if u + d == 0.0 { 50.0 } else { 100.0 * u / (u + d) }).collect()
}

/// Average true range; first value in row `n`.
pub fn atr(high: &[f64], low: &[f64], close: &[f64], n: usize) -> Vec<f64> {
    let range = |t: usize| match t.checked_sub(1).map(|before| close[before]) {
        Some(before) => high[t].max(before) - low[t].min(before),
        None => high[t] - low[t],
    };
    let ranges: Vec<f64> = (0..close.len()).map(range).collect();
    wilder(&ranges, n, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_by_hand() {
        assert_eq!(ema(&[1.0, 2.0, 3.0, 6.0], 3)[2..], [2.0, 4.0]);
        // True ranges 2, 3, 2 (the first row is not used): mean of rows 1..3 is 2.5, then (2.5 + 2) / 2.
        let (high, low, close) = ([2.0, 4.0, 5.0, 5.0], [1.0, 2.0, 2.0, 3.0], [1.5, 3.0, 4.0, 4.0]);
        assert_eq!(atr(&high, &low, &close, 2)[2..], [2.75, 2.375]);
        assert_eq!(rsi(&[1.0, 2.0, 1.0, 2.0], 2)[2..], [50.0, 75.0]);
        assert_eq!(rsi(&[1.0; 4], 2)[2..], [50.0, 50.0]);
        assert!(rsi(&[1.0; 2], 14).iter().all(|v| v.is_nan()));
        assert_eq!(macd(&[1.0; 3], 12, 26, 9).signal.len(), 3);
    }
}
