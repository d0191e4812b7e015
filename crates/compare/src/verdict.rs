//! Whether an arm does what F32 does.

use crate::{Measure, statistics::Estimate};
use serde::Serialize;
use std::fmt;

/// What the interval of a paired difference (arm − F32) says of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All of it lies within the bound.
    Equivalent,
    /// All of it lies beyond the bound, on the wrong side.
    Worse,
    /// All of it lies beyond the bound, on the right side.
    Better,
    /// Anything else, or members that have no score, or fewer than eight pairs.
    Undecided,
}

/// Pairs below which nothing is said: a bootstrap of fewer has too little spread. Of differences that lie at the bound, 2 pairs call
/// 23 % equivalent, 4 pairs 6 %, 8 pairs 3.2 %, and 16 the 2.5 % that they should.
const LEAST_PAIRS: usize = 8;

impl Verdict {
    /// Of a difference of scores; `less_is_better` says which side is the wrong one, `pairs` of how many pairs it is, and
    /// `lost` how many have no score in one of the arms. Leaving those out would favour an arm that diverged, so with them
    /// nothing better than undecided is said.
    pub fn of(difference: &Estimate, bound: f64, less_is_better: bool, pairs: usize, lost: usize) -> Self {
        let (low, high) = if less_is_better {
            (difference.low, difference.high)
        } else {
            (-difference.high, -difference.low)
        };
        match () {
            () if pairs < LEAST_PAIRS => Verdict::Undecided,
            () if low > bound => Verdict::Worse,
            () if lost > 0 => Verdict::Undecided,
            () if high < -bound => Verdict::Better,
            () if low >= -bound && high <= bound => Verdict::Equivalent,
            () => Verdict::Undecided,
        }
    }

    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Equivalent => "equivalent",
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Undecided => "undecided",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The difference that counts as none: 0.02 of the optimum's value for regret; for Sharpe a tenth of F32's IQM, 0.1 at least.
pub fn bound_of(measure: Measure, f32_iqm: f64) -> f64 {
    match measure {
        Measure::Regret => 0.02,
        Measure::Sharpe => (0.1 * f32_iqm.abs()).max(0.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_decides() {
        let of = |low: f64, high: f64, less: bool| {
            let e = Estimate { value: (low + high) / 2.0, low, high, standard_error: 1.0 };
            Verdict::of(&e, 0.1, less, 9, 0)
        };
        assert_eq!(of(-0.1, 0.1, true), Verdict::Equivalent);
        assert_eq!(of(-0.05, 0.11, true), Verdict::Undecided);
        assert_eq!(of(0.11, 0.2, true), Verdict::Worse);
        assert_eq!(of(0.11, 0.2, false), Verdict::Better);
        assert_eq!(of(-0.2, -0.11, true), Verdict::Better);
        assert_eq!(of(-0.2, -0.11, false), Verdict::Worse);
        let e = Estimate { value: 0.0, low: 0.0, high: 0.0, standard_error: 0.0 };
        assert_eq!(Verdict::of(&e, 0.1, true, 7, 0), Verdict::Undecided, "few pairs have too little spread");
        assert_eq!(Verdict::of(&e, 0.1, true, 8, 0), Verdict::Equivalent);
        assert_eq!(Verdict::of(&e, 0.1, true, 9, 1), Verdict::Undecided, "a member without a score");
        assert_eq!(bound_of(Measure::Sharpe, -3.0), 0.30000000000000004);
        assert_eq!((bound_of(Measure::Sharpe, 0.4), bound_of(Measure::Regret, 0.4)), (0.1, 0.02));
    }
}
