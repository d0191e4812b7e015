use crate::EnvError;
use foxhunt_market::{Bar, BarTable, Context};

/// Data of all members: bar tables one after another, and feature tables one after another.
///
/// A feature table belongs to a bar table and has a row for each of its rows; one bar table may have several, one for each
/// window that a normaliser was fitted on.
#[derive(Clone, Debug)]
pub struct Tables {
    columns: usize,
    pub(crate) bars: Vec<Bar>,
    pub(crate) context: Vec<Context>,
    pub(crate) features: Vec<f32>,
}

/// A bar table among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableId {
    pub(crate) base: usize,
    pub(crate) rows: usize,
}

/// A feature table, and the bar table that it describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureId {
    pub(crate) table: TableId,
    pub(crate) base: usize,
}

impl Tables {
    /// Tables whose features have `columns` columns, F.
    pub fn new(columns: usize) -> Self {
        Tables { columns, bars: Vec::new(), context: Vec::new(), features: Vec::new() }
    }

    /// F.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Adds bars.
    pub fn add_bars(&mut self, table: &BarTable) -> TableId {
        let id = TableId { base: self.bars.len(), rows: table.len() };
        self.bars.extend_from_slice(&table.bars);
        self.context.extend_from_slice(&table.context);
        id
    }

    /// Adds features of `table`, `[rows, F]`, normalised.
    ///
    /// # Errors
    /// [`EnvError::Tables`] if they are not that many.
    pub fn add_features(&mut self, table: TableId, features: &[f32]) -> Result<FeatureId, EnvError> {
        if features.len() != table.rows * self.columns {
            return Err(EnvError::Tables(format!(
                "{} features for {} bars of {} columns",
                features.len(),
                table.rows,
                self.columns
            )));
        }
        let base = self.features.len() / self.columns.max(1);
        self.features.extend_from_slice(features);
        Ok(FeatureId { table, base })
    }
}
