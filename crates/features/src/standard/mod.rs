//! The standard features, by family: one file each. What is added goes to `extended`: runs rest on these columns.

mod clock;
mod oscillator;
mod returns;
mod volatility;
mod volume;

use crate::set::FeatureSpec;
pub(crate) use volatility::FLOOR;

/// All standard features, in column order.
pub(crate) fn all() -> Vec<FeatureSpec> {
    [returns::SPECS, volatility::SPECS, oscillator::SPECS, volume::SPECS, clock::SPECS].concat()
}

/// `a / b`, or `otherwise` where b is zero: a flat window has no shape to describe.
pub(crate) fn ratio(a: f64, b: f64, otherwise: f64) -> f64 {
    if b == 0.0 { otherwise } else { a / b }
}
