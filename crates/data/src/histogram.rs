//! Medians of numbers that are not kept.

use std::collections::BTreeMap;

/// How often numbers of at least zero occur, to `bits` binary digits. Numbers of more digits count as the next below of so many,
/// so that what is held is bounded by the digits and the range, however many numbers there are.
pub(crate) struct Histogram {
    shift: u32,
    counts: BTreeMap<u64, u64>,
    all: u64,
}

impl Histogram {
    /// Of numbers to `bits` binary digits, 1 to 53.
    pub(crate) fn new(bits: u32) -> Self {
        Self { shift: f64::MANTISSA_DIGITS - bits, counts: BTreeMap::new(), all: 0 }
    }

    /// Counts a number, which is not below zero.
    pub(crate) fn push(&mut self, number: f64) {
        // The bits of such doubles are in the order of the numbers.
        *self.counts.entry(number.abs().to_bits() >> self.shift).or_default() += 1;
        self.all += 1;
    }

    /// The middle number of all in order; of an even count the upper one. `None` of none.
    pub(crate) fn median(&self) -> Option<f64> {
        let mut below = 0;
        let middle = self.counts.iter().find(|(_, count)| {
            below += **count;
            below > self.all / 2
        });
        middle.map(|(bits, _)| f64::from_bits(bits << self.shift))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_the_sorted_numbers() {
        let of = |bits, numbers: &[f64]| {
            let mut all = Histogram::new(bits);
            numbers.iter().for_each(|number| all.push(*number));
            all.median()
        };
        assert_eq!(of(17, &[]), None);
        assert_eq!(of(17, &[3.0, 0.0, 131_071.0]), Some(3.0));
        assert_eq!(of(17, &[131_071.0, 0.0]), Some(131_071.0));
        // 262,145 has 19 digits; to 17 it is 262,144.
        assert_eq!(of(17, &[262_145.0]), Some(262_144.0));
        assert_eq!(of(53, &[0.1, 0.3, 0.2, 0.4]), Some(0.3));
        let mut numbers: Vec<f64> = (0..1_001u32).map(|i| f64::from(i * 577 % 1_001) * 1e-5).collect();
        let near = of(11, &numbers).map_or(0.0, |median| median);
        numbers.sort_by(f64::total_cmp);
        assert!((near / numbers[500] - 1.0).abs() < 1e-3, "{near} is not {}", numbers[500]);
    }
}
