//! [`FeatureColumn`] and [`FeatureTable`]: raw features, one row per bar.

use std::ops::Range;

use foxhunt_data::Bars;

use crate::{error::FeatureError, series::Series, set::FeatureSpec};

/// One raw feature of all bars.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureColumn {
    /// Its name.
    pub name: String,
    /// First row that has a value.
    pub warmup: usize,
    /// T values; 0 in the warm-up.
    pub values: Vec<f32>,
}

impl FeatureColumn {
    pub(crate) fn compute(spec: &FeatureSpec, series: &Series) -> Result<Self, FeatureError> {
        let wide = (spec.compute)(series);
        let warmup = spec.warmup_of(&wide).min(wide.len());
        let mut values: Vec<f32> = wide.iter().map(|v| *v as f32).collect();
        if let Some(row) = (warmup..values.len()).find(|&row| !values[row].is_finite()) {
            return Err(FeatureError::NotFinite { name: spec.name.into(), row, value: wide[row] });
        }
        // What some features know before their window is full would be another feature.
        values[..warmup].fill(0.0);
        Ok(FeatureColumn { name: spec.name.to_owned(), warmup, values })
    }

    /// A column of the bars as it stands; rows before its first value are its warm-up.
    pub(crate) fn extra(name: &str, bars: &Bars) -> Result<Self, FeatureError> {
        let column = bars.extra.iter().find(|c| c.name == name).ok_or_else(|| FeatureError::NoColumn {
            file: bars.source.path.clone(),
            name: name.to_owned(),
        })?;
        let values = column.values.iter().map(|v| *v as f32).collect();
        Ok(FeatureColumn { name: name.to_owned(), warmup: column.first, values })
    }
}

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
