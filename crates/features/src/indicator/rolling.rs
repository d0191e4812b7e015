//! Indicators over a fixed window of rows.
//!
//! Sums are taken afresh for each row: running ones drift, and then a row would depend on how long the table is.

/// Applies `f` to every full window of `n` rows; NaN in the first `n - 1` rows.
pub(super) fn windows(x: &[f64], n: usize, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let n = n.max(1);
    (0..x.len()).map(|t| if t + 1 < n { f64::NAN } else { f(&x[t + 1 - n..=t]) }).collect()
}

/// Mean of the last `n` rows.
pub fn rolling_mean(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n, mean)
}

/// Standard deviation (over n, not n - 1) of the last `n` rows; exactly 0 where they are all equal.
pub fn rolling_sd(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n, |w| {
        // Taken from the first value: the mean of equal numbers may differ from them by a rounding.
        let count = w.len() as f64;
        let m = w.iter().map(|v| v - w[0]).sum::<f64>() / count;
        (w.iter().map(|v| (v - w[0] - m) * (v - w[0] - m)).sum::<f64>() / count).sqrt()
    })
}

/// Largest of the last `n` rows.
pub fn rolling_max(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n, |w| w.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// Smallest of the last `n` rows.
pub fn rolling_min(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n, |w| w.iter().copied().fold(f64::INFINITY, f64::min))
}

pub(super) fn mean(w: &[f64]) -> f64 {
    w.iter().sum::<f64>() / w.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_three() {
        let x = [1.0, 5.0, 3.0, 4.0];
        assert_eq!(rolling_mean(&x, 3)[2..], [3.0, 4.0]);
        assert_eq!(rolling_max(&x, 3)[2..], [5.0, 5.0]);
        assert_eq!(rolling_min(&x, 3)[2..], [1.0, 3.0]);
        assert!((rolling_sd(&x, 3)[2] - (8.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(rolling_sd(&[0.1; 7], 7)[6], 0.0);
        assert!(rolling_mean(&x, 3)[..2].iter().all(|v| v.is_nan()));
        assert!(rolling_mean(&x, 5).iter().all(|v| v.is_nan()));
    }
}
