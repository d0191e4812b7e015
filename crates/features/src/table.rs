//! [`FeatureTable`]: raw features, one row per bar.

use std::ops::Range;

use crate::error::FeatureError;

/// Raw features: T rows, F columns, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureTable {
    /// Name of each column, F.
    pub names: Vec<String>,
    /// T, the number of bars.
    pub rows: usize,
    /// F, the number of features.
    pub cols: usize,
    /// [T, F] values; 0 where a feature is still warming up.
    pub values: Vec<f32>,
    /// Rows before this one lack a feature and must not be shown to an agent.
    pub warmup_rows: usize,
}

impl FeatureTable {
    /// One row, F values. Panics past the end, as slices do.
    pub fn row(&self, t: usize) -> &[f32] {
        &self.values[t * self.cols..(t + 1) * self.cols]
    }

    /// Rows that every feature is known in.
    pub fn usable(&self) -> Range<usize> {
        self.warmup_rows.min(self.rows)..self.rows
    }

    /// Refuses a range of rows that is empty, past the end, or reaches into the warm-up.
    ///
    /// # Errors
    /// [`FeatureError::Rows`].
    pub fn check_rows(&self, range: &Range<usize>) -> Result<(), FeatureError> {
        let usable = self.usable();
        if range.start >= usable.start && range.end <= usable.end && range.start < range.end {
            return Ok(());
        }
        Err(FeatureError::Rows { start: range.start, end: range.end, first: usable.start, rows: self.rows })
    }
}
