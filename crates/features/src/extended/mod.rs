//! Features beyond the standard set, by family: one file each, appended to in time.

mod candle;
mod distribution;
mod flow;
mod higher;
mod momentum;
mod ranges;
mod session;
mod spread;
mod trend;

use crate::set::FeatureSpec;

/// All of them, in column order.
pub(crate) fn all() -> Vec<FeatureSpec> {
    [
        trend::SPECS,
        momentum::SPECS,
        ranges::SPECS,
        flow::SPECS,
        distribution::SPECS,
        candle::SPECS,
        spread::SPECS,
        session::SPECS,
        higher::SPECS,
    ]
    .concat()
}
