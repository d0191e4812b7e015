//! [`Normaliser`]: each feature to mean 0 and standard deviation 1 over the training window, and only over that.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{error::FeatureError, table::FeatureTable};

/// Normalised values beyond this many standard deviations are clipped to it; the share is reported.
pub const CLIP: f32 = 8.0;
/// Largest |mean| / sd of a raw feature that is normalised: one that moves less for its size is a constant and what its last
/// digits happen to be.
pub const MAX_OFF_CENTRE: f64 = 50.0;

/// Mean and standard deviation of each feature over a training window. Serialisable; applies to any table of the same
/// columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normaliser {
    /// Name of each column, F.
    pub names: Vec<String>,
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// Standard deviation (over n) of each column; 0 for a column that did not move, or less than a [`MAX_OFF_CENTRE`]th of its
    /// mean, which normalises to 0 everywhere.
    pub sd: Vec<f64>,
    /// Rows that it was fitted on.
    pub train_rows: Range<usize>,
    /// Bound of normalised values, in standard deviations.
    pub clip: f32,
}

/// Normalised features: T rows, F columns, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalisedTable {
    /// Name of each column, F.
    pub names: Vec<String>,
    /// T, the number of bars.
    pub rows: usize,
    /// F, the number of features.
    pub cols: usize,
    /// [T, F] values within plus and minus the clip; 0 in the warm-up.
    pub values: Vec<f32>,
    /// Rows before this one lack a feature and must not be shown to an agent.
    pub warmup_rows: usize,
    /// Values past the warm-up that were clipped, per column.
    pub clipped: Vec<usize>,
}

impl Normaliser {
    /// Measures the columns over `train`, which must lie past the warm-up.
    ///
    /// # Errors
    /// [`FeatureError::Rows`] for a range that is not in the table.
    pub fn fit(table: &FeatureTable, train: Range<usize>) -> Result<Self, FeatureError> {
        table.check_rows(&train)?;
        let n = train.len() as f64;
        let (mut means, mut sds) = (Vec::with_capacity(table.cols), Vec::with_capacity(table.cols));
        for col in 0..table.cols {
            let column = || train.clone().map(|t| f64::from(table.values[t * table.cols + col]));
            let mean = column().sum::<f64>() / n;
            let variance = column().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
            let first = column().next().unwrap_or(0.0);
            let constant = column().all(|v| v == first);
            let sd = variance.sqrt();
            let still = constant || mean.abs() > MAX_OFF_CENTRE * sd;
            means.push(mean);
            sds.push(if still { 0.0 } else { sd });
        }
        Ok(Self { names: table.names.clone(), mean: means, sd: sds, train_rows: train, clip: CLIP })
    }

    /// Names of the columns that did not move enough to be normalised, and are 0 everywhere, with their means.
    pub fn still(&self) -> impl Iterator<Item = (&str, f64)> {
        let all = self.names.iter().zip(&self.mean).zip(&self.sd);
        all.filter(|(_, sd)| **sd == 0.0).map(|((name, mean), _)| (name.as_str(), *mean))
    }

    /// Normalises every row past the warm-up: (value - mean) / sd in F64, clipped, rounded to F32 once.
    ///
    /// # Errors
    /// [`FeatureError::OtherColumns`] if the table has other columns than the one it was fitted on.
    pub fn apply(&self, table: &FeatureTable) -> Result<NormalisedTable, FeatureError> {
        if self.names != table.names {
            return Err(FeatureError::OtherColumns {
                fitted: self.names.clone(),
                found: table.names.clone(),
            });
        }
        let mut values = vec![0.0_f32; table.values.len()];
        let mut clipped = vec![0; table.cols];
        let bound = f64::from(self.clip);
        for t in table.usable() {
            for (col, &raw) in table.row(t).iter().enumerate() {
                if self.sd[col] == 0.0 {
                    continue;
                }
                let z = (f64::from(raw) - self.mean[col]) / self.sd[col];
                clipped[col] += usize::from(z.abs() > bound);
                values[t * table.cols + col] = z.clamp(-bound, bound) as f32;
            }
        }
        Ok(NormalisedTable {
            names: self.names.clone(),
            rows: table.rows,
            cols: table.cols,
            values,
            warmup_rows: table.warmup_rows,
            clipped,
        })
    }
}

impl NormalisedTable {
    /// One row, F values. Panics past the end, as slices do.
    pub fn row(&self, t: usize) -> &[f32] {
        &self.values[t * self.cols..(t + 1) * self.cols]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[[f32; 5]]) -> FeatureTable {
        let (rows, cols) = (5, columns.len());
        let values = (0..rows).flat_map(|t| columns.iter().map(move |c| c[t])).collect();
        FeatureTable {
            names: (0..cols).map(|c| format!("f{c}")).collect(),
            rows,
            cols,
            values,
            warmup_rows: 1,
        }
    }

    #[test]
    fn fits_on_the_training_rows_alone_and_clips() {
        let table = table(&[[9.0, 1.0, 3.0, 2.0, 1e6], [7.0, 4.0, 4.0, 4.0, 5.0]]);
        let normaliser = Normaliser::fit(&table, 1..3).unwrap();
        assert_eq!(
            (normaliser.mean.as_slice(), normaliser.sd.as_slice()),
            (&[2.0, 4.0][..], &[1.0, 0.0][..])
        );
        let out = normaliser.apply(&table).unwrap();
        assert_eq!(out.values, [0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, CLIP, 0.0]);
        assert_eq!(out.clipped, [1, 0]);
        let text = serde_json::to_string(&normaliser).unwrap();
        assert_eq!(serde_json::from_str::<Normaliser>(&text).unwrap(), normaliser);
    }

    /// A million samples whose mean is 45 times their deviation, near the limit; an average in BF16 stops moving after 256.
    #[test]
    fn a_million_samples_give_mean_and_deviation() {
        const ROWS: usize = 1_000_000;
        // A permutation of 0..ROWS, so that sums are known: multiples of 2^-10 around 12,688.
        let at = |t: usize| (t * 7_919 % ROWS) as f64 / 1024.0 + 12_200.0;
        let values = (0..ROWS).map(|t| at(t) as f32).collect();
        let table = FeatureTable { names: vec!["f".into()], rows: ROWS, cols: 1, values, warmup_rows: 0 };
        let fitted = Normaliser::fit(&table, 0..ROWS).unwrap();
        let n = ROWS as f64;
        let (mean, sd) = (12_200.0 + (n - 1.0) / 2.0 / 1024.0, ((n * n - 1.0) / 12.0).sqrt() / 1024.0);
        assert!((fitted.mean[0] / mean - 1.0).abs() < 1e-9, "{} {mean}", fitted.mean[0]);
        assert!((fitted.sd[0] / sd - 1.0).abs() < 1e-4, "{} {sd}", fitted.sd[0]);
    }

    #[test]
    fn a_column_that_hardly_moves_is_as_one_that_does_not() {
        // Means 4, 101 and 49; deviations 0, 1 and 1.
        let columns =
            [[0.0, 4.0, 4.0, 4.0, 4.0], [0.0, 100.0, 102.0, 100.0, 102.0], [0.0, 48.0, 50.0, 48.0, 50.0]];
        let table = table(&columns);
        let normaliser = Normaliser::fit(&table, 1..5).unwrap();
        assert_eq!(normaliser.still().collect::<Vec<_>>(), [("f0", 4.0), ("f1", 101.0)]);
        let out = normaliser.apply(&table).unwrap();
        assert!(out.values.chunks(3).all(|row| row[..2] == [0.0, 0.0]));
        assert_eq!(out.row(1)[2], -1.0);
    }

    #[test]
    fn refuses_warm_up_rows_and_other_columns() {
        let near = table(&[[0.0, 1.0, 2.0, 3.0, 4.0]]);
        assert!(matches!(Normaliser::fit(&near, 0..3), Err(FeatureError::Rows { first: 1, .. })));
        assert!(matches!(Normaliser::fit(&near, 3..3), Err(FeatureError::Rows { .. })));
        assert!(matches!(Normaliser::fit(&near, 3..6), Err(FeatureError::Rows { .. })));
        let normaliser = Normaliser::fit(&near, 1..5).unwrap();
        let other = table(&[[0.0; 5], [0.0; 5]]);
        assert!(matches!(normaliser.apply(&other), Err(FeatureError::OtherColumns { .. })));
    }
}
