//! [`FeatureSet`]: which features, in which order; and the table that it makes.

use foxhunt_data::Bars;

use crate::{error::FeatureError, series::Series, standard, table::FeatureTable};

/// One feature: what it is in words, and how it is computed.
#[derive(Clone, Copy, Debug)]
pub struct FeatureSpec {
    /// Name of the column.
    pub name: &'static str,
    /// Formula: C close, H high, L low, V volume, r log return of one bar, t this row.
    pub formula: &'static str,
    /// Bars that a value reads, this one included (recursive ones: until their seed).
    pub window: usize,
    /// Where the definition comes from.
    pub source: &'static str,
    /// Why row t needs nothing after bar t.
    pub causal: &'static str,
    /// First row that has a value.
    pub warmup: usize,
    /// Computes the column: T rows, NaN before `warmup`.
    pub compute: fn(&Series) -> Vec<f64>,
}

/// An ordered list of features.
#[derive(Clone, Debug)]
pub struct FeatureSet {
    specs: Vec<FeatureSpec>,
}

impl FeatureSet {
    /// The standard set: returns, volatility, oscillators, volume, clock. Growing it appends, so that columns keep their
    /// places.
    pub fn standard() -> Self {
        Self { specs: standard::all() }
    }

    /// A set of any features, in this order.
    ///
    /// # Errors
    /// [`FeatureError::Duplicate`] if two share a name.
    pub fn new(specs: Vec<FeatureSpec>) -> Result<Self, FeatureError> {
        for (i, spec) in specs.iter().enumerate() {
            if specs[..i].iter().any(|other| other.name == spec.name) {
                return Err(FeatureError::Duplicate { name: spec.name });
            }
        }
        Ok(Self { specs })
    }

    /// The features, in column order.
    pub fn specs(&self) -> &[FeatureSpec] {
        &self.specs
    }

    /// Number of features, F.
    pub fn len(&self) -> usize {
        self.specs.len()
    }

    /// Whether there is no feature.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// First row in which every feature has a value.
    pub fn warmup_rows(&self) -> usize {
        self.specs.iter().map(|s| s.warmup).max().unwrap_or(0)
    }

    /// Computes all features of all bars: [T, F] raw values, computed in F64 and rounded to F32 once.
    ///
    /// # Errors
    /// [`FeatureError::NotFinite`] if a feature has no number in a row past its own warm-up; [`FeatureError::Data`] for a
    /// faulty instrument.
    pub fn compute(&self, bars: &Bars) -> Result<FeatureTable, FeatureError> {
        let series = Series::from_bars(bars)?;
        let (rows, cols) = (bars.len(), self.len());
        let mut values = vec![0.0_f32; rows * cols];
        for (col, spec) in self.specs.iter().enumerate() {
            for (row, value) in (spec.compute)(&series).into_iter().enumerate().take(rows) {
                let narrow = value as f32;
                if narrow.is_finite() {
                    values[row * cols + col] = narrow;
                } else if row >= spec.warmup {
                    return Err(FeatureError::NotFinite { name: spec.name.into(), row, value });
                }
            }
        }
        Ok(FeatureTable {
            names: self.specs.iter().map(|s| s.name.to_owned()).collect(),
            rows,
            cols,
            values,
            warmup_rows: self.warmup_rows(),
        })
    }
}
