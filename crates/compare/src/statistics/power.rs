//! What a comparison of this size and spread could have found.

use super::normal::{Z_800, Z_975, cdf};
use serde::Serialize;

/// Power of the two-sided test at 5 % of one difference, by the normal approximation with its bootstrap standard error s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Power {
    /// The smallest true difference that is told from none in 80 % of repetitions: (z.975 + z.80) s.
    pub detectable: f64,
    /// Probability that a true difference as large as the bound b is told from none: Φ(b/s − z.975) + Φ(−b/s − z.975).
    pub at_bound: f64,
    /// Probability that the interval lies within the bound where there is no difference: max(0, 2 Φ(b/s − z.975) − 1).
    pub equivalence: f64,
}

impl Power {
    /// Of a difference with this standard error, judged by this bound.
    pub fn new(standard_error: f64, bound: f64) -> Self {
        if standard_error <= 0.0 {
            return Power { detectable: 0.0, at_bound: 1.0, equivalence: 1.0 };
        }
        let b = bound / standard_error;
        Power {
            detectable: (Z_975 + Z_800) * standard_error,
            at_bound: cdf(b - Z_975) + cdf(-b - Z_975),
            equivalence: (2.0 * cdf(b - Z_975) - 1.0).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let p = Power::new(1.0, Z_975 + Z_800);
        assert!((p.detectable - 2.801_585).abs() < 1e-6);
        assert!((p.at_bound - 0.8).abs() < 1e-5 && (p.equivalence - 0.6).abs() < 1e-5, "{p:?}");
        assert!((Power::new(1.0, 0.0).at_bound - 0.05).abs() < 1e-6);
        assert_eq!(Power::new(1.0, 0.5).equivalence, 0.0);
        assert_eq!(Power::new(0.0, 0.1), Power { detectable: 0.0, at_bound: 1.0, equivalence: 1.0 });
    }
}
