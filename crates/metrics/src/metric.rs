//! A number, or the reason why there is none.

use std::fmt;

/// What a metric comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// A finite number.
    Value(f64),
    /// No number has a meaning here.
    Undefined(Undefined),
}

/// Why a metric has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// Fewer observations than the metric needs.
    TooFew {
        /// How many there are.
        have: usize,
        /// How many it takes.
        need: usize,
    },
    /// Less elapsed time than the metric needs.
    TooShort {
        /// Whole days covered.
        days: i64,
        /// Days that it takes.
        need: i64,
    },
    /// All returns are equal.
    NoVariation,
    /// No return is negative.
    NoDownside,
    /// Equity never fell below an earlier peak.
    NoDrawdown,
    /// Equity reached zero or less, so that returns have no meaning.
    EquityNotPositive,
    /// Nothing was traded.
    NoTrades,
    /// No round trip was completed.
    NoRoundTrips,
    /// No round trip lost.
    NoLosingTrips,
    /// Too many resampled series had no value.
    Unstable,
    /// The number is too large to be one.
    Overflow,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { have, need } => write!(f, "needs at least {need} observations, there are {have}"),
            Self::TooShort { days, need } => write!(f, "needs at least {need} days, there are {days}"),
            Self::NoVariation => f.write_str("all returns are equal"),
            Self::NoDownside => f.write_str("no return is negative"),
            Self::NoDrawdown => f.write_str("equity never fell below an earlier peak"),
            Self::EquityNotPositive => f.write_str("equity reached zero or less"),
            Self::NoTrades => f.write_str("nothing was traded"),
            Self::NoRoundTrips => f.write_str("no round trip was completed"),
            Self::NoLosingTrips => f.write_str("no round trip lost"),
            Self::Unstable => f.write_str("too many resampled series have no value"),
            Self::Overflow => f.write_str("the number is out of range"),
        }
    }
}

impl Metric {
    /// The number, if there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(value),
            Self::Undefined(_) => None,
        }
    }

    /// A computed number; what is not finite becomes undefined.
    pub(crate) fn finite(value: f64) -> Self {
        if value.is_finite() { Self::Value(value) } else { Self::Undefined(Undefined::Overflow) }
    }
}

/// For metrics computed with `?` inside.
impl From<Result<f64, Undefined>> for Metric {
    fn from(result: Result<f64, Undefined>) -> Self {
        match result {
            Ok(value) => Self::finite(value),
            Err(reason) => Self::Undefined(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_undefined() {
        assert_eq!(Metric::from(Ok(f64::NAN)), Metric::Undefined(Undefined::Overflow));
        assert_eq!(Metric::from(Ok(f64::INFINITY)).value(), None);
        assert_eq!(Metric::from(Ok(1.5)).value(), Some(1.5));
        assert_eq!(
            Undefined::TooFew { have: 1, need: 2 }.to_string(),
            "needs at least 2 observations, there are 1"
        );
    }
}
