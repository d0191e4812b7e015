//! The standard features, by family: one file each, appended to in time.

mod clock;
mod oscillator;
mod returns;
mod volatility;
mod volume;

use crate::set::FeatureSpec;

/// All standard features, in column order.
pub(crate) fn all() -> Vec<FeatureSpec> {
    [returns::SPECS, volatility::SPECS, oscillator::SPECS, volume::SPECS, clock::SPECS].concat()
}

/// `a / b`, or `otherwise` where b is zero: a flat window has no shape to describe.
fn ratio(a: f64, b: f64, otherwise: f64) -> f64 {
    if b == 0.0 { otherwise } else { a / b }
}
