//! Kurtosis.

use crate::metric::{Metric, Undefined};
use crate::series::Series;
use crate::skewness::varied;

/// Excess kurtosis of returns per session day, corrected for the size of the sample (Joanes and Gill's G2): 0 for a normal
/// distribution, above it with fat tails. Undefined for fewer than 4.
///
/// Equal to QuantStats `kurtosis` and pandas `kurt`.
pub fn kurtosis(series: &Series) -> Metric {
    series.day_returns().and_then(|returns| corrected(&returns)).into()
}

/// The same of any returns.
pub fn kurtosis_of(returns: &[f64]) -> Metric {
    corrected(returns).into()
}

fn corrected(returns: &[f64]) -> Result<f64, Undefined> {
    let have = returns.len();
    if have < 4 {
        return Err(Undefined::TooFew { have, need: 4 });
    }
    let (mean, sd) = varied(returns)?;
    let n = have as f64;
    let fourths: f64 = returns.iter().map(|r| ((r - mean) / sd).powi(4)).sum();
    let below = (n - 2.0) * (n - 3.0);
    Ok(n * (n + 1.0) / ((n - 1.0) * below) * fourths - 3.0 * (n - 1.0) * (n - 1.0) / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Variance 4/3, so the fourth powers sum to 4 · 9/16: 4·5/(3·2·1) · 9/4 − 3·9/2 = −6.
        assert!((kurtosis_of(&[-1.0, -1.0, 1.0, 1.0]).value().unwrap() + 6.0).abs() < 1e-13);
        assert_eq!(kurtosis_of(&[0.1; 9]), Metric::Undefined(Undefined::NoVariation));
        assert_eq!(kurtosis_of(&[0.1; 3]), Metric::Undefined(Undefined::TooFew { have: 3, need: 4 }));
    }
}
