//! [`Splits`]: three windows in time order. Validation chooses; test is read once.

use std::ops::Range;

use foxhunt_data::Bars;
use serde::{Deserialize, Serialize};

use crate::error::FeatureError;

/// Moments (ns UTC) that divide bars into windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    /// Begin of the training window; the first usable row where none, or where that opens later.
    pub train_from_ns: Option<i64>,
    /// Begin of the validation window, and end of the training window.
    pub validation_from_ns: i64,
    /// Begin of the test window, and end of the validation window.
    pub test_from_ns: i64,
    /// End of the test window; the last usable row's where none.
    pub test_to_ns: Option<i64>,
}

/// Row ranges of the three windows, one after the other without overlap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Splits {
    /// Rows that models and normalisers learn from.
    pub train: Range<usize>,
    /// Rows that choose between epochs and members.
    pub validation: Range<usize>,
    /// Rows that are read once, at the end.
    pub test: Range<usize>,
}

impl Splits {
    /// Divides `usable` rows (past the warm-up) by shares; what train and validation leave is test. Each window needs
    /// `least` rows.
    ///
    /// # Errors
    /// [`FeatureError::Split`] for shares that leave no test window; [`FeatureError::TooShort`].
    pub fn by_fraction(
        usable: Range<usize>,
        train: f64,
        validation: f64,
        least: usize,
    ) -> Result<Self, FeatureError> {
        let shares_ok = train > 0.0 && validation > 0.0 && train + validation < 1.0;
        if !shares_ok {
            let problem = format!("shares {train} and {validation} leave no three windows");
            return Err(FeatureError::Split { problem });
        }
        let rows = usable.len() as f64;
        let first = usable.start + (rows * train).round() as usize;
        let second = usable.start + (rows * (train + validation)).round() as usize;
        Self { train: usable.start..first, validation: first..second, test: second..usable.end }
            .checked(least)
    }

    /// Divides `usable` rows at moments: a bar belongs to the later window if it opens at or after the moment, and to the
    /// earlier if it has closed by then. A bar that is open at the moment belongs to neither. Rows before the first and
    /// after the last moment are in no window: features may look back on the former, nothing looks at the latter. Each
    /// window needs `least` rows.
    ///
    /// # Errors
    /// [`FeatureError::Split`] for moments out of order or rows that the bars do not have; [`FeatureError::TooShort`].
    pub fn by_time(
        bars: &Bars,
        usable: Range<usize>,
        at: Moments,
        least: usize,
    ) -> Result<Self, FeatureError> {
        let problem = if at.validation_from_ns >= at.test_from_ns {
            "validation begins when or after test does"
        } else if at.train_from_ns.is_some_and(|train| train >= at.validation_from_ns) {
            "train begins when or after validation does"
        } else if at.test_to_ns.is_some_and(|end| end <= at.test_from_ns) {
            "test ends when or before it begins"
        } else if usable.end > bars.len() || usable.start > usable.end {
            "the rows to divide are not all among the bars"
        } else {
            ""
        };
        if !problem.is_empty() {
            return Err(FeatureError::Split { problem: problem.into() });
        }
        // Times ascend, so the rows on one side of a moment are a prefix.
        let closed_by = |ns: i64| bars.close_ns.partition_point(|&c| c <= ns).clamp(usable.start, usable.end);
        let opens_from = |ns: i64| bars.open_ns.partition_point(|&o| o < ns).clamp(usable.start, usable.end);
        Self {
            train: at.train_from_ns.map_or(usable.start, opens_from)..closed_by(at.validation_from_ns),
            validation: opens_from(at.validation_from_ns)..closed_by(at.test_from_ns),
            test: opens_from(at.test_from_ns)..at.test_to_ns.map_or(usable.end, closed_by),
        }
        .checked(least)
    }

    fn checked(self, least: usize) -> Result<Self, FeatureError> {
        let least = least.max(1);
        for (window, range) in
            [("train", &self.train), ("validation", &self.validation), ("test", &self.test)]
        {
            if range.len() < least {
                return Err(FeatureError::TooShort { window, rows: range.len(), least });
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_divide_without_loss() {
        let splits = Splits::by_fraction(168..6_225, 0.7, 0.15, 100).unwrap();
        assert_eq!((splits.train, splits.validation, splits.test), (168..4_408, 4_408..5_316, 5_316..6_225));
        assert!(matches!(
            Splits::by_fraction(0..100, 0.8, 0.1, 20),
            Err(FeatureError::TooShort { window: "validation", rows: 10, least: 20 })
        ));
        assert!(Splits::by_fraction(0..100, 0.8, 0.2, 1).is_err());
        assert!(Splits::by_fraction(0..100, f64::NAN, 0.2, 1).is_err());
    }
}
