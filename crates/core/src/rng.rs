//! Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), the host's mirror of
//! `rng.cuh`. A draw is a function of seed, member, step, purpose and element; never of a thread or a slot.

/// What a draw is for: the low byte of the counter's second word. Purposes never share a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Stochastic rounding of a weight (of a pair's high word: not used, that rounds to nearest).
    RoundWeight = 0,
    /// Stochastic rounding of Adam's first moment.
    RoundM = 1,
    /// Stochastic rounding of Adam's second moment.
    RoundV = 2,
    /// Stochastic rounding of an EMA target.
    RoundTarget = 3,
    /// Stochastic rounding of the low word of a weight pair.
    RoundLow = 4,
    /// Stochastic rounding of the low word of a target pair.
    RoundTargetLow = 5,
    /// Initial weights.
    Initialise = 16,
    /// Rows of a training batch.
    Sample = 17,
    /// Exploration.
    Explore = 18,
    /// Where an episode starts.
    Episode = 19,
    /// Gumbel noise of Boltzmann actions.
    Gumbel = 20,
}

/// The Philox4x32-10 block function.
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut c0, mut c1, mut c2, mut c3], [mut k0, mut k1]) = (counter, key);
    for _ in 0..10 {
        let p = 0xD251_1F53_u64 * u64::from(c0);
        let q = 0xCD9E_8D57_u64 * u64::from(c2);
        (c0, c1, c2, c3) = ((q >> 32) as u32 ^ c1 ^ k0, q as u32, (p >> 32) as u32 ^ c3 ^ k1, p as u32);
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    [c0, c1, c2, c3]
}

/// Four words for one element of a tensor at a step.
pub fn draw(seed: u64, step: u64, tensor: u32, purpose: Purpose, element: u32) -> [u32; 4] {
    let counter = [element, tensor << 8 | purpose as u32, step as u32, (step >> 32) as u32];
    philox(counter, [seed as u32, (seed >> 32) as u32])
}

/// The 16 random bits that round element `element` of a tensor.
pub fn draw16(seed: u64, step: u64, tensor: u32, purpose: Purpose, element: u64) -> u16 {
    let word = draw(seed, step, tensor, purpose, (element / 8) as u32)[(element % 8 / 2) as usize];
    if element % 2 == 1 { (word >> 16) as u16 } else { word as u16 }
}

/// The key of one member: a hash of the run's seed and the member's stable id, so that members may be removed or
/// reordered without a change to any other (SplitMix64's finaliser, Steele et al. 2014).
pub fn member_seed(seed: u64, member_id: u64) -> u64 {
    let mut z = seed ^ member_id.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// An integer below `n` from 32 random bits, the mirror of `below` in `rng.cuh`.
pub fn below(word: u32, n: u32) -> u32 {
    ((u64::from(word) * u64::from(n)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of Random123, and the layout vector of the specification.
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        let words = philox([3, 0x702, 42, 0], [0x89ab_cdef, 0x0123_4567]);
        assert_eq!(words, [0xe247_5223, 0x342b_4fbe, 0x7f78_8ee2, 0xad2a_440f]);
        assert_eq!(words, draw(0x0123_4567_89ab_cdef, 42, 7, Purpose::RoundV, 3));
        let x = [0x3f80_0054_u32, 0xbeaa_aaaa, 0x4049_0fdb, 0x387f_da40];
        let want = [0x3f80_u16, 0xbeab, 0x4049, 0x3880];
        for (e, (x, want)) in x.into_iter().zip(want).enumerate() {
            let noise = draw16(0x0123_4567_89ab_cdef, 42, 7, Purpose::RoundV, 24 + e as u64);
            assert_eq!(crate::Bf16::from_f32_stochastic(f32::from_bits(x), noise).to_bits(), want);
        }
    }

    #[test]
    fn members_have_their_own_keys() {
        let seeds: std::collections::HashSet<u64> = (0..10_000).map(|m| member_seed(7, m)).collect();
        assert_eq!(seeds.len(), 10_000);
        assert_ne!(member_seed(7, 3), member_seed(8, 3));
    }
}
