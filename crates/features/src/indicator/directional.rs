//! Direction and strength of a trend: Wilder's directional movement, Aroon, commodity channel, regression.

use super::rolling::{mean, windows};

/// Directional movement.
#[derive(Clone, Debug)]
pub struct Directional {
    /// +DI, 0 to 100; first value in row `n`.
    pub plus: Vec<f64>,
    /// -DI, 0 to 100; first value in row `n`.
    pub minus: Vec<f64>,
    /// Average directional index, 0 to 100; first value in row `2 n - 1`.
    pub adx: Vec<f64>,
}

/// Wilder's directional movement over `n` rows, summed and seeded as TA-Lib does. Where nothing has moved both indices and
/// the share between them are 0 (TA-Lib holds the average there).
pub fn directional(high: &[f64], low: &[f64], close: &[f64], n: usize) -> Directional {
    let (rows, n) = (close.len(), n.max(1));
    let count = n as f64;
    let (mut plus, mut minus, mut adx) = (vec![f64::NAN; rows], vec![f64::NAN; rows], vec![f64::NAN; rows]);
    let mut sums = [0.0_f64; 3];
    let mut average = 0.0;
    for t in 1..rows {
        let (up, down) = (high[t] - high[t - 1], low[t - 1] - low[t]);
        let range = high[t].max(close[t - 1]) - low[t].min(close[t - 1]);
        let moves =
            [if up > down { up.max(0.0) } else { 0.0 }, if down > up { down.max(0.0) } else { 0.0 }, range];
        for (sum, x) in sums.iter_mut().zip(moves) {
            // The seed is a plain sum of n - 1 rows; from then on each row lets go of its n-th part.
            *sum = if t < n { *sum + x } else { *sum - *sum / count + x };
        }
        if t < n {
            continue;
        }
        let share = |x: f64| if sums[2] == 0.0 { 0.0 } else { 100.0 * x / sums[2] };
        (plus[t], minus[t]) = (share(sums[0]), share(sums[1]));
        let both = plus[t] + minus[t];
        let index = if both == 0.0 { 0.0 } else { 100.0 * (plus[t] - minus[t]).abs() / both };
        if t < 2 * n {
            average += index / count;
        } else {
            average = (average * (count - 1.0) + index) / count;
        }
        if t + 1 >= 2 * n {
            adx[t] = average;
        }
    }
    Directional { plus, minus, adx }
}

/// Aroon oscillator, -100 to 100: how much more recent the highest high of `n + 1` rows is than the lowest low; of equal ones
/// the latest counts. First value in row `n`.
pub fn aroon(high: &[f64], low: &[f64], n: usize) -> Vec<f64> {
    let n = n.max(1);
    let newest = |x: &[f64], better: fn(f64, f64) -> bool| {
        (1..x.len()).fold(0, |best, i| if better(x[i], x[best]) { i } else { best }) as f64
    };
    let at = |t: usize| {
        let from = t - n;
        let (up, down) = (newest(&high[from..=t], |a, b| a >= b), newest(&low[from..=t], |a, b| a <= b));
        100.0 * (up - down) / n as f64
    };
    (0..high.len()).map(|t| if t < n { f64::NAN } else { at(t) }).collect()
}

/// Commodity channel index; first value in row `n - 1`; 0 where the typical price stands still.
pub fn cci(high: &[f64], low: &[f64], close: &[f64], n: usize) -> Vec<f64> {
    let typical: Vec<f64> = (0..close.len()).map(|t| (high[t] + low[t] + close[t]) / 3.0).collect();
    windows(&typical, n, |w| {
        let m = mean(w);
        let deviation = w.iter().map(|v| (v - m).abs()).sum::<f64>() / w.len() as f64;
        // A mean of equal numbers may differ from them by a rounding.
        let flat = w.iter().all(|v| *v == w[0]);
        if flat || deviation == 0.0 { 0.0 } else { (w[w.len() - 1] - m) / (0.015 * deviation) }
    })
}

/// Slope of the least-squares line through the last `n` rows, per row; first value in row `n - 1`. `n` is at least 2.
pub fn slope(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n.max(2), line_slope)
}

/// Slope of the least-squares line through all of `w`, per row.
pub(super) fn line_slope(w: &[f64]) -> f64 {
    let count = w.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let product: f64 = w.iter().enumerate().map(|(i, v)| (i as f64 - middle) * (v - w[0])).sum();
    product / (count * (count * count - 1.0) / 12.0)
}

/// Kaufman's efficiency ratio, 0 to 1: the way made over `n` rows over the way gone; first value in row `n`; 0 where nothing
/// moved.
pub fn efficiency(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n.max(1) + 1, |w| {
        let gone: f64 = w.windows(2).map(|p| (p[1] - p[0]).abs()).sum();
        if gone == 0.0 { 0.0 } else { (w[w.len() - 1] - w[0]).abs() / gone }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(slope(&[1.0, 3.0, 5.0, 4.0], 3)[2..], [2.0, 0.5]);
        assert_eq!(efficiency(&[1.0, 2.0, 1.0, 2.0], 3)[3], 1.0 / 3.0);
        assert_eq!(aroon(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], 2)[2], 100.0);
        let flat = [5.0; 9];
        assert_eq!(directional(&flat, &flat, &flat, 2).adx[3..], [0.0; 6]);
        assert_eq!(cci(&[0.1; 9], &[0.1; 9], &[0.1; 9], 7)[6..], [0.0; 3]);
    }
}
