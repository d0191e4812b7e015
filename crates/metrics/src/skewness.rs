//! Skewness.

use crate::metric::{Metric, Undefined};
use crate::series::Series;
use crate::volatility::mean_sd;

/// Skewness of returns per session day, corrected for the size of the sample (Joanes and Gill's G1). Negative where losses
/// reach farther than gains. Undefined for fewer than 3.
///
/// Equal to QuantStats `skew` and pandas `skew`.
pub fn skewness(series: &Series) -> Metric {
    series.day_returns().and_then(|returns| corrected(&returns)).into()
}

/// The same of any returns.
pub fn skewness_of(returns: &[f64]) -> Metric {
    corrected(returns).into()
}

fn corrected(returns: &[f64]) -> Result<f64, Undefined> {
    let have = returns.len();
    if have < 3 {
        return Err(Undefined::TooFew { have, need: 3 });
    }
    let (mean, sd) = varied(returns)?;
    let n = have as f64;
    let cubes: f64 = returns.iter().map(|r| ((r - mean) / sd).powi(3)).sum();
    Ok(n / ((n - 1.0) * (n - 2.0)) * cubes)
}

/// Mean and standard deviation (n − 1) of returns that differ.
pub(crate) fn varied(returns: &[f64]) -> Result<(f64, f64), Undefined> {
    let (mean, sd) = mean_sd(returns)?;
    // Equal returns may differ from their computed mean in the last bits.
    if sd <= 1e-14 * mean.abs() || sd == 0.0 { Err(Undefined::NoVariation) } else { Ok((mean, sd)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Mean 0, sd √(6/2) = √3: 3/2 · (−1 − 1 + 8) / 3√3 = √3.
        assert!((skewness_of(&[-1.0, -1.0, 2.0]).value().unwrap() - 3f64.sqrt()).abs() < 1e-14);
        assert_eq!(skewness_of(&[-1.0, 0.0, 1.0]), Metric::Value(0.0));
        assert_eq!(skewness_of(&[0.1; 9]), Metric::Undefined(Undefined::NoVariation));
        assert_eq!(skewness_of(&[0.1; 2]), Metric::Undefined(Undefined::TooFew { have: 2, need: 3 }));
    }
}
