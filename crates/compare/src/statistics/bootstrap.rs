//! The percentile bootstrap over members.

use super::iqm::{iqm, iqm_of_counts, sorted};
use foxhunt_core::rng::{below, philox};
use serde::Serialize;

/// How to resample members: with replacement, as many as there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// Resamples.
    pub draws: u32,
    /// Key of the Philox stream; equal seeds give equal intervals.
    pub seed: u64,
}

/// A statistic with its 95 % percentile interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The statistic of the members themselves.
    pub value: f64,
    /// 2.5 % quantile over resamples.
    pub low: f64,
    /// 97.5 % quantile over resamples.
    pub high: f64,
    /// Standard deviation over resamples: the bootstrap's standard error.
    pub standard_error: f64,
}

/// Counter word that no other use of Philox has in its place: "boot".
const STREAM: u32 = 0x626f_6f74;

impl Bootstrap {
    /// IQM of values. None without values.
    pub fn iqm(&self, values: &[f64]) -> Option<Estimate> {
        let order = sorted(values);
        self.estimate(values.len(), iqm(values)?, |counts| iqm_of_counts(values, &order, counts))
    }

    /// IQM of `a` minus IQM of `b`, of which the i-th are a pair: pairs are resampled, not values, so that what a seed does
    /// to both cancels. None without pairs.
    pub fn difference(&self, a: &[f64], b: &[f64]) -> Option<Estimate> {
        let n = a.len().min(b.len());
        let (a, b) = (&a[..n], &b[..n]);
        let orders = (sorted(a), sorted(b));
        self.estimate(n, iqm(a)? - iqm(b)?, |counts| {
            iqm_of_counts(a, &orders.0, counts) - iqm_of_counts(b, &orders.1, counts)
        })
    }

    fn estimate(&self, n: usize, value: f64, of: impl Fn(&[u32]) -> f64) -> Option<Estimate> {
        if n == 0 || self.draws == 0 {
            return None;
        }
        let mut counts = vec![0; n];
        let mut found: Vec<f64> = (0..self.draws)
            .map(|resample| {
                self.resample(resample, &mut counts);
                of(&counts)
            })
            .collect();
        found.sort_by(f64::total_cmp);
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let squares: f64 = found.iter().map(|x| (x - mean).powi(2)).sum();
        let standard_error = (squares / (found.len().max(2) - 1) as f64).sqrt();
        Some(Estimate { value, low: quantile(&found, 0.025), high: quantile(&found, 0.975), standard_error })
    }

    /// How often each of the members is in one resample.
    fn resample(&self, resample: u32, counts: &mut [u32]) {
        let n = counts.len() as u32;
        counts.fill(0);
        let key = [self.seed as u32, (self.seed >> 32) as u32];
        for block in 0..n.div_ceil(4) {
            let words = philox([block, resample, 0, STREAM], key);
            for word in words.into_iter().take((n - block * 4) as usize) {
                counts[below(word, n) as usize] += 1;
            }
        }
    }
}

/// Quantile of sorted values, linear between neighbours: NumPy's default.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let at = p * (sorted.len() - 1) as f64;
    let (low, part) = (at.floor() as usize, at.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (sorted[high] - sorted[low]) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by `scripts/golden/compare_statistics.py`: SciPy's trimmed mean, NumPy's quantiles, the same Philox stream.
    #[test]
    fn as_scipy_and_numpy() {
        let golden: serde_json::Value = serde_json::from_str(include_str!("golden.json")).unwrap();
        let list = |v: &serde_json::Value| -> Vec<f64> {
            v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
        };
        let how = Bootstrap { draws: 1_000, seed: golden["seed"].as_u64().unwrap() };
        let cases = golden["cases"].as_array().unwrap();
        assert!(cases.len() >= 4);
        for case in cases {
            let (a, b) = (list(&case["a"]), list(&case["b"]));
            for (found, want) in [(how.iqm(&a), &case["iqm"]), (how.difference(&a, &b), &case["difference"])]
            {
                let e = found.unwrap();
                for (x, want) in [e.value, e.low, e.high, e.standard_error].into_iter().zip(list(want)) {
                    assert!((x - want).abs() <= 1e-12 * want.abs().max(1.0), "{x} is not {want}");
                }
            }
        }
    }

    #[test]
    fn pairs_cancel_what_they_share() {
        let how = Bootstrap { draws: 500, seed: 1 };
        let b: Vec<f64> = (0..20).map(|i| f64::from(i * i)).collect();
        let a: Vec<f64> = b.iter().map(|x| x + 0.5).collect();
        let e = how.difference(&a, &b).unwrap();
        assert_eq!((e.value, e.low, e.high), (0.5, 0.5, 0.5));
        assert!(how.iqm(&a).unwrap().standard_error > 1.0);
        assert_eq!(how.iqm(&[]), None);
        let one = how.iqm(&[3.0]).unwrap();
        assert_eq!((one.low, one.high, one.standard_error), (3.0, 3.0, 0.0));
    }
}
