//! Time within the market's session.

use crate::{
    series::Series,
    set::{FeatureSpec, Timeframe},
};

const DAY_S: i64 = 86_400;

fn position(s: &Series) -> Vec<f64> {
    let passed = |c: &foxhunt_data::SessionClock| (c.inside_s.rem_euclid(DAY_S) + 1) as f64;
    s.clock.iter().map(|c| (2.0 * passed(c) / s.session_seconds - 1.0).min(1.0)).collect()
}

pub(super) const SPECS: &[FeatureSpec] = &[FeatureSpec {
    name: "session_position",
    formula: "2 (seconds of the session that have passed at the close) / (its length) - 1, 1 after it",
    window: 1,
    source: "own",
    causal: "the clock at the close of bar t",
    timeframe: Timeframe::Bar,
    warmup: 0,
    compute: position,
}];
