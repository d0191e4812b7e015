//! Shape of what the last rows hold: moments, dependence, rank.

use super::rolling::{mean, windows};

/// Sums of powers 2, 3, 4 of the deviations from the mean, all 0 where the rows are equal.
fn powers(w: &[f64]) -> [f64; 3] {
    if w.iter().all(|v| *v == w[0]) {
        return [0.0; 3];
    }
    let m = mean(w);
    w.iter().fold([0.0; 3], |[two, three, four], v| {
        let d = v - m;
        [two + d * d, three + d * d * d, four + d * d * d * d]
    })
}

/// Skewness of the last `n` rows, adjusted for bias (Fisher-Pearson); first value in row `n - 1`; 0 where all are equal. `n` is
/// at least 3.
pub fn skew(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n.max(3), |w| {
        let (count, [two, three, _]) = (w.len() as f64, powers(w));
        let sd = (two / count).sqrt();
        let adjust = (count * (count - 1.0)).sqrt() / (count - 2.0);
        // The cube of a very small deviation is no number to divide by.
        let cube = sd * sd * sd;
        if cube == 0.0 { 0.0 } else { adjust * (three / count) / cube }
    })
}

/// Excess kurtosis of the last `n` rows, adjusted for bias; first value in row `n - 1`; 0 where all are equal. `n` is at least
/// 4.
pub fn kurtosis(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n.max(4), |w| {
        let (c, [two, _, four]) = (w.len() as f64, powers(w));
        let square = two * two;
        if square == 0.0 {
            return 0.0;
        }
        let raw = c * (c + 1.0) * (c - 1.0) / ((c - 2.0) * (c - 3.0)) * four / square;
        raw - 3.0 * (c - 1.0) * (c - 1.0) / ((c - 2.0) * (c - 3.0))
    })
}

/// Correlation of the last `n` rows with the rows one before each; first value in row `n`; 0 where either stands still. `n` is
/// at least 2.
pub fn autocorrelation(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n.max(2) + 1, |w| correlation(&w[1..], &w[..w.len() - 1]))
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let flat = |w: &[f64]| w.iter().all(|v| *v == w[0]);
    if flat(a) || flat(b) {
        return 0.0;
    }
    let (ma, mb) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        ab += (x - ma) * (y - mb);
        aa += (x - ma) * (x - ma);
        bb += (y - mb) * (y - mb);
    }
    let scale = (aa * bb).sqrt();
    if scale == 0.0 { 0.0 } else { (ab / scale).clamp(-1.0, 1.0) }
}

/// Variance ratio of Lo and MacKinlay 1988 less 1, mean taken as 0: the mean square of overlapping changes over `k` rows, over
/// `k` times that of one row's, both of the last `n` changes; first value in row `n`; 0 where nothing moved. `n` is more than
/// `k`.
pub fn variance_ratio(x: &[f64], k: usize, n: usize) -> Vec<f64> {
    let k = k.max(2);
    windows(x, n.max(k + 1) + 1, |w| {
        let square = |step: usize| {
            let sum: f64 = w.iter().zip(&w[step..]).map(|(a, b)| (b - a) * (b - a)).sum();
            sum / (w.len() - step) as f64
        };
        let one = square(1);
        if one == 0.0 { 0.0 } else { square(k) / (k as f64 * one) - 1.0 }
    })
}

/// Rank of the newest of the last `n` rows, above 0 to 1: the share of rows that are lower, equal ones (itself among them)
/// counting by their mean rank; first value in row `n - 1`.
pub fn rank(x: &[f64], n: usize) -> Vec<f64> {
    windows(x, n, |w| {
        let own = w[w.len() - 1];
        let lower = w.iter().filter(|v| **v < own).count() as f64;
        let equal = w.iter().filter(|v| **v == own).count() as f64;
        (lower + (equal + 1.0) / 2.0) / w.len() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(rank(&[1.0, 3.0, 2.0, 2.0], 4)[3], 2.5 / 4.0);
        assert_eq!(autocorrelation(&[1.0, -1.0, 1.0, -1.0], 3)[3], -1.0);
        assert_eq!(variance_ratio(&[0.0, 1.0, 2.0, 3.0], 2, 3)[3], 1.0);
        assert_eq!(skew(&[1.0, 2.0, 3.0], 3)[2], 0.0);
        for flat in [skew(&[0.1; 5], 4), kurtosis(&[0.1; 5], 4), autocorrelation(&[0.1; 5], 4)] {
            assert_eq!(flat[4], 0.0);
        }
    }
}
