//! The normal distribution.

/// Distribution function, relative error below 1e-13 in the lower tail down to -37, absolute elsewhere: the series of
/// Marsaglia (2004, "Evaluating the normal distribution") near the middle, and the continued fraction of Laplace in the tails.
pub(crate) fn cdf(x: f64) -> f64 {
    const TAIL: f64 = 3.0;
    let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if x.abs() < TAIL {
        // x + x^3/3 + x^5/(3 5) + ...
        let (mut term, mut sum) = (x, x);
        for k in 1..100 {
            term *= x * x / f64::from(2 * k + 1);
            sum += term;
        }
        return 0.5 + sum * density;
    }
    let fraction = (1..=200).rev().fold(0.0, |rest, k| f64::from(k) / (x.abs() + rest));
    let upper = density / (x.abs() + fraction);
    if x < 0.0 { upper } else { 1.0 - upper }
}

/// The x below which the share `p` lies, for p in 0 to 1/2, by bisection of [`cdf`].
pub(crate) fn lower_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-38.0, 0.0);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables, and from Python's `math.erfc`.
    #[test]
    fn against_tables() {
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-2.999, 0.0013543365337271066),
            (-3.0, 0.001_349_898_031_630_094_6),
            (-6.0, 9.865_876_450_376_98e-10),
        ] {
            assert!((cdf(x) - p).abs() < 1e-12 * p, "{x}: {}", cdf(x));
            if x < 0.0 {
                assert!((lower_quantile(p) - x).abs() < 1e-11, "{p}");
            }
        }
        assert!((cdf(3.5) + cdf(-3.5) - 1.0).abs() < 1e-15);
        assert!(lower_quantile(0.5).abs() < 1e-15);
    }
}
