//! The normal distribution, as far as power needs it.

/// 97.5 % quantile.
pub(super) const Z_975: f64 = 1.959_963_984_540_054;
/// 80 % quantile.
pub(super) const Z_800: f64 = 0.841_621_233_572_914_3;

/// Distribution function, within 2e-7: the Chebyshev fit of erfc in Numerical Recipes, 2nd edition, 6.2.
pub(super) fn cdf(x: f64) -> f64 {
    erfc(-x / std::f64::consts::SQRT_2) / 2.0
}

fn erfc(x: f64) -> f64 {
    const C: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let polynomial = C.iter().rev().fold(0.0, |sum, c| sum * t + c);
    let upper = t * (-x * x + polynomial).exp();
    if x >= 0.0 { upper } else { 2.0 - upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn against_tables() {
        for (x, p) in [(0.0, 0.5), (1.0, 0.841_344_746), (-2.0, 0.022_750_132), (Z_975, 0.975), (Z_800, 0.8)]
        {
            assert!((cdf(x) - p).abs() < 2e-7, "{x}: {}", cdf(x));
        }
        assert_eq!((cdf(40.0), cdf(-40.0)), (1.0, 0.0));
    }
}
