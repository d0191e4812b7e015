//! How uncertain a figure of one member is: the stationary block bootstrap over time.

use crate::metric::{Metric, Undefined};

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// Resampled series.
    pub draws: u32,
    /// Mean block length in returns; none for `n^(1/3)`, rounded up.
    pub mean_block: Option<f64>,
    /// Two-sided confidence level, for example 0.95.
    pub level: f64,
    /// Seed; equal seeds give equal intervals.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { draws: 2_000, mean_block: None, level: 0.95, seed: 0 }
    }
}

/// An interval over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Its confidence level.
    pub level: f64,
    /// Mean block length that was used, in returns.
    pub mean_block: f64,
}

/// Returns below which a resampling says nothing.
pub const RETURNS_MIN: usize = 20;

/// The percentile interval of `statistic` under the stationary bootstrap of Politis and Romano (1994): blocks that
/// start anywhere, have geometric lengths and wrap around, so that the order within a block survives.
///
/// It asks how the figure would differ had this member met other stretches of the same market. It knows nothing of
/// what other seeds would have learned: that is [`over_members`](crate::over_members()), and the two are not to be
/// merged. Returns that depend on each other for longer than a block make it too narrow.
///
/// # Errors
///
/// [`Undefined::TooFew`] under 20 returns; [`Undefined::Unstable`] if more than one in twenty resampled series has no
/// value.
pub fn over_time(
    returns: &[f64],
    statistic: impl Fn(&[f64]) -> Metric,
    how: &Bootstrap,
) -> Result<Interval, Undefined> {
    let have = returns.len();
    if have < RETURNS_MIN {
        return Err(Undefined::TooFew { have, need: RETURNS_MIN });
    }
    let mean_block = how.mean_block.unwrap_or((have as f64).cbrt().ceil()).max(1.0);
    let mut random = SplitMix(how.seed);
    let mut sample = vec![0.0; have];
    let mut values = Vec::new();
    for _ in 0..how.draws {
        let mut at = random.below(have);
        for slot in &mut sample {
            *slot = returns[at];
            let ends = random.unit() < 1.0 / mean_block;
            at = if ends { random.below(have) } else { (at + 1) % have };
        }
        values.extend(statistic(&sample).value());
    }
    if values.is_empty() || values.len() * 20 < how.draws as usize * 19 {
        return Err(Undefined::Unstable);
    }
    values.sort_by(f64::total_cmp);
    let tail = (1.0 - how.level) / 2.0;
    Ok(Interval {
        low: quantile(&values, tail),
        high: quantile(&values, 1.0 - tail),
        level: how.level,
        mean_block,
    })
}

/// Linear between order statistics (type 7 of Hyndman and Fan).
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let last = sorted.len() - 1;
    let at = q.clamp(0.0, 1.0) * last as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(last);
    sorted[low] + (at - low as f64) * (sorted[high] - sorted[low])
}

/// Steele, Lea and Flood (2014). Enough for a bootstrap, and the same on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In 0..n, by multiplication; the bias is below n / 2^64.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sharpe::sharpe_of;

    fn mean(values: &[f64]) -> Metric {
        Metric::Value(values.iter().sum::<f64>() / values.len() as f64)
    }

    #[test]
    fn quantiles_by_hand() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 1.0), 4.0);
        assert_eq!(quantile(&[7.0], 0.025), 7.0);
    }

    #[test]
    fn equal_seeds_equal_intervals() {
        let returns: Vec<f64> = (0..100).map(|k| f64::from(k * 37 % 101) / 1e4).collect();
        let how = Bootstrap { seed: 5, ..Bootstrap::default() };
        let one = over_time(&returns, mean, &how).unwrap();
        assert_eq!(one, over_time(&returns, mean, &how).unwrap());
        assert_ne!(one, over_time(&returns, mean, &Bootstrap { seed: 6, ..how }).unwrap());
        assert_eq!(one.mean_block, 5.0);
    }

    /// Independent returns: the interval of the mean is that of the central limit theorem, 1.96 sd / √n either way.
    #[test]
    fn independent_returns_give_the_textbook_width() {
        let mut random = SplitMix(11);
        let returns: Vec<f64> = (0..2_000).map(|_| random.unit() - 0.5).collect();
        let how = Bootstrap { mean_block: Some(1.0), ..Bootstrap::default() };
        let interval = over_time(&returns, mean, &how).unwrap();
        let expected = 2.0 * 1.96 * (1.0f64 / 12.0 / 2_000.0).sqrt();
        let width = interval.high - interval.low;
        assert!((width / expected - 1.0).abs() < 0.06, "{width} {expected}");
        let centre = mean(&returns).value().unwrap();
        assert!(interval.low < centre && centre < interval.high);
    }

    /// Returns in runs of ten equal values: the mean's variance is ten times that of independent ones. Blocks see it,
    /// single draws do not.
    #[test]
    fn blocks_keep_dependence() {
        let mut random = SplitMix(3);
        let returns: Vec<f64> = (0..300).flat_map(|_| [random.unit() - 0.5; 10]).collect();
        let width = |block| {
            let how = Bootstrap { mean_block: Some(block), ..Bootstrap::default() };
            let interval = over_time(&returns, mean, &how).unwrap();
            interval.high - interval.low
        };
        let ratio = width(100.0) / width(1.0);
        // √10 = 3.16 in the limit of long blocks.
        assert!((2.6..3.5).contains(&ratio), "{ratio}");
    }

    #[test]
    fn undefined() {
        let few = Undefined::TooFew { have: 19, need: 20 };
        assert_eq!(over_time(&[0.1; 19], mean, &Bootstrap::default()), Err(few));
        let flat = over_time(&[0.0; 50], |r| sharpe_of(r, 252.0), &Bootstrap::default());
        assert_eq!(flat, Err(Undefined::Unstable));
        let none = Bootstrap { draws: 0, ..Bootstrap::default() };
        assert_eq!(over_time(&[0.1; 30], mean, &none), Err(Undefined::Unstable));
    }
}
