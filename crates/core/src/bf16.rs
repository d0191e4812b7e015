/// A bfloat16: the upper half of an F32. A storage format; arithmetic happens in F32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Bf16(u16);

impl Bf16 {
    /// The one NaN that stores produce (hardware makes different ones: see `platform.cuh`).
    pub const NAN: Bf16 = Bf16(0x7fff);

    /// From the 16 bits in memory.
    pub const fn from_bits(bits: u16) -> Self {
        Bf16(bits)
    }

    /// The 16 bits in memory.
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// Rounds to nearest, ties to even; every NaN becomes [`Bf16::NAN`].
    pub fn from_f32(x: f32) -> Self {
        if x.is_nan() {
            return Self::NAN;
        }
        let u = x.to_bits();
        Bf16(((u + 0x7fff + ((u >> 16) & 1)) >> 16) as u16)
    }

    /// Rounds up with probability (the 16 bits dropped) / 65536 for a uniform `noise`; the mirror of
    /// `round_stochastic` in `rng.cuh`: NaN stays NaN, infinity stays, a finite value never becomes infinite.
    pub fn from_f32_stochastic(x: f32, noise: u16) -> Self {
        let u = x.to_bits();
        if x.is_nan() {
            return Self::NAN;
        }
        if x.is_infinite() {
            return Bf16((u >> 16) as u16);
        }
        let y = (u.wrapping_add(u32::from(noise)) >> 16) as u16;
        Bf16(if y & 0x7fff == 0x7f80 { y - 1 } else { y })
    }

    /// The pair whose sum is `x`: high to nearest, low the remainder to nearest. Where no pair holds `x` the high word
    /// stands alone: NaN and infinities, and what rounds beyond the largest finite value, which saturates there.
    pub fn split(x: f32) -> (Self, Self) {
        Self::split_with(x, Self::from_f32)
    }

    /// As [`Bf16::split`] with the low word rounded stochastically; the mirror of `split` in `rng.cuh`.
    pub fn split_stochastic(x: f32, noise: u16) -> (Self, Self) {
        Self::split_with(x, |low| Self::from_f32_stochastic(low, noise))
    }

    fn split_with(x: f32, round: impl Fn(f32) -> Self) -> (Self, Self) {
        let high = Self::from_f32(x);
        if !x.is_finite() {
            return (high, Bf16(0));
        }
        if !high.to_f32().is_finite() {
            return (Bf16(high.0 - 1), Bf16(0));
        }
        // Exact: the remainder has no bit below the last of x.
        (high, round(x - high.to_f32()))
    }

    /// The value of a pair, as kernels load it.
    pub fn join(high: Self, low: Self) -> f32 {
        high.to_f32() + low.to_f32()
    }

    /// Exact.
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pair keeps the mean exactly, and its high word is the nearest BF16 whatever the noise.
    #[test]
    fn pairs_are_unbiased_and_guarded() {
        for bits in [0x3f80_0054_u32, 0xbeaa_aaaa, 0x4049_0fdb, 0x3f7f_ffff, 0xbf80_8001, 0x4280_7fff] {
            let x = f32::from_bits(bits);
            let mut sum = 0.0;
            for r in 0..=u16::MAX {
                let (high, low) = Bf16::split_stochastic(x, r);
                assert_eq!(high, Bf16::from_f32(x));
                sum += f64::from(high.to_f32()) + f64::from(low.to_f32());
            }
            assert_eq!(sum / 65_536.0, f64::from(x), "{bits:08x}");
            let (high, low) = Bf16::split(x);
            assert!((Bf16::join(high, low) - x).abs() <= x.abs() * 2_f32.powi(-16), "{bits:08x}");
        }
        // A pair that is stored again stays: neither word moves.
        let (high, low) = Bf16::split(1.234_567);
        assert_eq!(Bf16::split_stochastic(Bf16::join(high, low), 0xffff), (high, low));
        let zero = Bf16::from_bits(0);
        assert_eq!(Bf16::split(f32::NAN), (Bf16::NAN, zero));
        assert_eq!(Bf16::split(f32::NEG_INFINITY), (Bf16::from_f32(f32::NEG_INFINITY), zero));
        assert_eq!(Bf16::split(f32::MAX), (Bf16::from_bits(0x7f7f), zero), "no infinity");
        assert_eq!(Bf16::split(f32::MIN), (Bf16::from_bits(0xff7f), zero), "no infinity");
    }

    #[test]
    fn rounds_to_nearest_even_and_keeps_specials() {
        assert_eq!(Bf16::from_f32(1.0).to_bits(), 0x3f80);
        assert_eq!(Bf16::from_f32(f32::from_bits(0x3f80_8000)).to_bits(), 0x3f80, "tie to even, down");
        assert_eq!(Bf16::from_f32(f32::from_bits(0x3f81_8000)).to_bits(), 0x3f82, "tie to even, up");
        assert_eq!(Bf16::from_f32(f32::MAX).to_bits(), 0x7f80, "nearest overflows to infinity, as IEEE says");
        assert_eq!(Bf16::from_f32(f32::from_bits(0x7f80_0001)), Bf16::NAN);
        assert_eq!(Bf16::from_f32(-0.0).to_bits(), 0x8000);
    }

    /// bf16.md section 4, tests 2 to 4: exact mean over all noise, exact on representables, guarded specials.
    #[test]
    fn stochastic_rounding_is_unbiased_and_guarded() {
        let mut patterns = vec![
            0x3f80_0054_u32,
            0xbeaa_aaaa,
            0x4049_0fdb,
            0x0000_0001,
            0x007f_ffff,
            0x3f7f_ffff,
            0x8040_1234,
        ];
        // Any finite bits that can't overflow, subnormal ones, and both sides of the edge of a binade.
        for i in 0..101 {
            let [a, b, c, _] = crate::rng::philox([i, 0, 0, 0], [410, 0]);
            let sign = a & 0x8000_0000;
            patterns.extend([a & 0xbfff_ffff, sign | b & 0x007f_ffff]);
            let edge = (c % 253 + 1) << 23;
            patterns.extend([sign | (edge - 1 - (b & 0xffff)), sign | edge | (c & 0xffff)]);
        }
        assert_eq!(patterns.len(), 411);
        for bits in patterns {
            let x = f64::from(f32::from_bits(bits));
            let mean = (0..=u16::MAX)
                .map(|r| f64::from(Bf16::from_f32_stochastic(f32::from_bits(bits), r).to_f32()))
                .sum::<f64>()
                / 65_536.0;
            assert_eq!(mean, x, "{bits:08x}");
        }
        for hi in 0..=u16::MAX {
            let b = Bf16::from_bits(hi);
            if b.to_f32().is_nan() {
                continue;
            }
            for r in [0, 1, 0x7fff, 0xffff] {
                assert_eq!(Bf16::from_f32_stochastic(b.to_f32(), r), b);
            }
        }
        for r in [0, 1, 0x8000, 0xffff] {
            for nan in [0x7fff_ffff, 0xffff_ffff, 0x7f80_0001] {
                assert_eq!(Bf16::from_f32_stochastic(f32::from_bits(nan), r), Bf16::NAN);
            }
            let max = Bf16::from_f32_stochastic(f32::MAX, r);
            assert!(max.to_f32().is_finite());
        }
        assert_eq!(Bf16::from_f32_stochastic(f32::MAX, 0xffff).to_bits(), 0x7f7f);
    }
}
