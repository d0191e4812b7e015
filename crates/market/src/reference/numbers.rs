//! Numbers as the specification writes them: floors and ceilings of exact fractions in 128 bits, levels and sizes found by
//! searching for the last number that satisfies the rule.

/// `floor(a / b)`, b > 0.
pub(super) fn floor(a: i128, b: i128) -> i128 {
    a.div_euclid(b)
}

/// `ceil(a / b)`, b > 0.
pub(super) fn ceil(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

/// The largest x in `low..=high` for which `holds`, where it holds up to some x and not beyond; `low - 1` if for none.
pub(super) fn last_that(low: i128, high: i128, holds: impl Fn(i128) -> bool) -> i128 {
    let (mut yes, mut no) = (low - 1, high + 1);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) { yes = middle } else { no = middle }
    }
    yes
}

/// `log1p` of `math.cuh`: the same reduction and polynomial in F32, so that rewards can be compared bit for bit.
#[allow(clippy::excessive_precision, reason = "the constants are written as in `math.cuh`")]
pub(super) fn log1p(a: f32) -> f32 {
    let u = a + 1.0;
    let e = u.to_bits().wrapping_sub(0x3f2a_aaab) & 0xff80_0000; // 1 + a in [2/3, 4/3) * 2^e
    let reduced = f32::from_bits(a.to_bits().wrapping_sub(e));
    let scale = f32::from_bits(0x4080_0000_u32.wrapping_sub(e));
    let m = reduced + 0.25_f32.mul_add(scale, -1.0);
    let exponent = (e as i32) as f32 * 1.192_092_9e-7;
    let s = m * m;
    let mut r = (-0.130_310_059_f32).mul_add(s, -0.121_483_512);
    let mut t = 0.140_869_141_f32.mul_add(s, 0.139_814_854);
    r = r.mul_add(s, -0.166_846_126);
    t = t.mul_add(s, 0.200_120_345);
    r = r.mul_add(s, -0.249_996_2);
    r = t.mul_add(m, r);
    r = r.mul_add(m, 0.333_331_972);
    r = r.mul_add(m, -0.5);
    r = r.mul_add(s, m);
    r = exponent.mul_add(0.693_147_182, r);
    if a == 0.0 { a } else { r }
}

/// `log` of `math.cuh` for a positive normal number, likewise.
#[allow(clippy::excessive_precision, reason = "the constants are written as in `math.cuh`")]
pub(super) fn log(a: f32) -> f32 {
    let e = a.to_bits().wrapping_sub(0x3f2a_aaab) & 0xff80_0000;
    let m = f32::from_bits(a.to_bits().wrapping_sub(e)) - 1.0;
    let exponent = ((e as i32) as f32).mul_add(1.192_092_90e-7, 0.0);
    let s = m * m;
    let mut r = (-0.130_310_059_f32).mul_add(s, -0.121_483_512);
    let mut t = 0.140_869_141_f32.mul_add(s, 0.139_814_854);
    r = r.mul_add(s, -0.166_846_126);
    t = t.mul_add(s, 0.200_120_345);
    r = r.mul_add(s, -0.249_996_200);
    r = t.mul_add(m, r);
    r = r.mul_add(m, 0.333_331_972);
    r = r.mul_add(m, -0.5);
    r = r.mul_add(s, m);
    exponent.mul_add(0.693_147_182, r)
}

/// `x` as i32 in units of 2^-20, and whether it had to be cut.
pub(super) fn q20(x: f32) -> (i32, bool) {
    let scaled = f64::from(x) * f64::from(1 << 20);
    const LARGEST: f64 = 2_147_483_520.0; // the last F32 below 2^31
    if scaled.is_nan() || scaled.abs() >= LARGEST {
        return (if scaled < 0.0 { -(LARGEST as i32) } else { LARGEST as i32 }, true);
    }
    let whole = if scaled.abs() < 4_194_304.0 { scaled.round_ties_even() } else { scaled.trunc() };
    (whole as i32, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_round_as_they_say() {
        assert_eq!((floor(-7, 2), ceil(-7, 2), floor(7, 2), ceil(7, 2), ceil(8, 2)), (-4, -3, 3, 4, 4));
        assert_eq!(last_that(1, 100, |x| x * x <= 50), 7);
        assert_eq!(last_that(1, 100, |_| false), 0);
        assert_eq!(last_that(1, 100, |_| true), 100);
    }

    #[test]
    fn log1p_is_the_logarithm() {
        for x in [-0.99_f32, -0.5, -1e-3, -1e-9, 0.0, 1e-9, 1.797_e-3, 0.3, 1.0, 50.0, 1e6] {
            let exact = f64::from(x).ln_1p();
            assert!((f64::from(log1p(x)) - exact).abs() <= exact.abs() * 2e-7, "{x}: {} {exact}", log1p(x));
        }
        for x in [0.01_f32, 0.1, 0.25, 0.499, 0.7, 1.5, 3e6] {
            let exact = f64::from(x).ln();
            assert!((f64::from(log(x)) - exact).abs() <= exact.abs() * 2e-7, "{x}: {} {exact}", log(x));
        }
        assert_eq!(q20(1.5 / 1_048_576.0), (2, false));
        assert_eq!(q20(-3_000.0), (-2_147_483_520, true));
    }
}
