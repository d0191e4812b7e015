//! Causal features of bars, and their normalisation.
//!
//! [`FeatureSet::compute`] turns [`Bars`](foxhunt_data::Bars) into a [`FeatureTable`] [T, F] whose row t needs no bar after
//! t; [`Splits`] divides its rows in time order; [`Normaliser`] is fitted on the training rows alone and applied to all.
//! Everything is computed in F64 and rounded to F32 once per table.
//!
//! What each feature is stands beside its code as a [`FeatureSpec`]: name, formula, window, source, why it is causal.

mod document;
mod error;
mod extended;
mod frames;
pub mod indicator;
mod normalise;
mod parquet;
mod series;
mod set;
mod splits;
mod standard;
mod table;

pub use document::document;
pub use error::FeatureError;
pub use normalise::{CLIP, MAX_OFF_CENTRE, NormalisedTable, Normaliser};
pub use parquet::write_parquet;
pub use series::Series;
pub use set::{FeatureSet, FeatureSpec, SET_NAMES, Timeframe};
pub use splits::{Moments, Splits};
pub use table::{FeatureColumn, FeatureTable};
