//! The quoted spread at the close. Zero throughout where the file has no bid and ask.

use crate::{
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
    standard::ratio,
};

const CAUSAL: &str = "bid and ask at the closes of the bars up to t";

fn with_spread(s: &Series, of: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    s.spread.as_ref().map_or_else(|| vec![0.0; s.len()], |spread| of(spread))
}

fn log_ratio(s: &Series, n: usize) -> Vec<f64> {
    with_spread(s, |spread| {
        let mean = indicator::rolling_mean(spread, n);
        (0..s.len()).map(|t| ((spread[t] + 1.0) / (mean[t] + 1.0)).ln()).collect()
    })
}

fn of_range(s: &Series) -> Vec<f64> {
    with_spread(s, |spread| {
        let atr = indicator::atr(&s.high, &s.low, &s.close, 14);
        (0..s.len()).map(|t| ratio(spread[t], spread[t] + atr[t], 0.0)).collect()
    })
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "spread_ratio_24",
        formula: "ln((S[t] + 1) / (mean of S over 24 bars + 1)), S ask - bid in price units; 0 without quotes",
        window: 24,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 23,
        compute: |s| log_ratio(s, 24),
    },
    FeatureSpec {
        name: "spread_of_range_14",
        formula: "S[t] / (S[t] + ATR14); 0 without quotes or where both are 0",
        window: 15,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 14,
        compute: of_range,
    },
];
