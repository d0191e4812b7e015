//! How much a figure differs from member to member: the spread over seeds.

use crate::metric::{Metric, Undefined};
use crate::volatility::mean_sd;

/// A figure over members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Members for which the figure is defined.
    pub defined: usize,
    /// All members.
    pub members: usize,
    /// Mean of the defined.
    pub mean: f64,
    /// Standard deviation (n − 1).
    pub sd: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Lower end of Student's 95 % interval of the mean.
    pub low: f64,
    /// Upper end of that interval.
    pub high: f64,
}

/// Mean, spread and Student's 95 % interval of the mean over members.
///
/// It asks what another seed would have come to on the same stretch of data. What another stretch would have brought is
/// [`over_time`](crate::over_time()); the two are not to be merged.
///
/// # Errors
///
/// [`Undefined::TooFew`] if the figure is defined for fewer than two members.
pub fn over_members(figures: &[Metric]) -> Result<Spread, Undefined> {
    let values: Vec<f64> = figures.iter().filter_map(|figure| figure.value()).collect();
    let (mean, sd) = mean_sd(&values)?;
    let half = student_975(values.len() - 1) * sd / (values.len() as f64).sqrt();
    Ok(Spread {
        defined: values.len(),
        members: figures.len(),
        mean,
        sd,
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        low: mean - half,
        high: mean + half,
    })
}

/// The 97.5 % quantile of Student's t.
fn student_975(degrees: usize) -> f64 {
    const TABLE: [f64; 10] = [
        12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157,
        2.228_139,
    ];
    if let Some(&t) = degrees.checked_sub(1).and_then(|k| TABLE.get(k)) {
        return t;
    }
    // Abramowitz and Stegun 26.7.5, within 1e-5 from eleven degrees on.
    let (z, n) = (1.959_963_985f64, degrees as f64);
    let g1 = (z.powi(3) + z) / 4.0;
    let g2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let g3 = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    let g4 = (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1_482.0 * z.powi(5) - 1_920.0 * z.powi(3) - 945.0 * z)
        / 92_160.0;
    z + g1 / n + g2 / n.powi(2) + g3 / n.powi(3) + g4 / n.powi(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let none = Metric::Undefined(Undefined::NoTrades);
        let spread =
            over_members(&[Metric::Value(1.0), none, Metric::Value(2.0), Metric::Value(3.0)]).unwrap();
        assert_eq!((spread.defined, spread.members, spread.mean, spread.sd), (3, 4, 2.0, 1.0));
        assert_eq!((spread.min, spread.max), (1.0, 3.0));
        // 4.302653 / √3
        assert!((spread.high - 2.0 - 2.484_138).abs() < 1e-6);
        assert!((spread.low - 2.0 + 2.484_138).abs() < 1e-6);
        let few = Undefined::TooFew { have: 1, need: 2 };
        assert_eq!(over_members(&[Metric::Value(1.0), none]), Err(few));
        assert_eq!(over_members(&[]), Err(Undefined::TooFew { have: 0, need: 2 }));
    }

    /// From the tables: t(0.975) for 1, 10, 11, 30 and 120 degrees of freedom.
    #[test]
    fn student_quantiles() {
        for (degrees, t) in
            [(1, 12.706_205), (10, 2.228_139), (11, 2.200_985), (30, 2.042_272), (120, 1.979_930)]
        {
            assert!((student_975(degrees) - t).abs() < 2e-5, "{degrees}: {}", student_975(degrees));
        }
    }
}
