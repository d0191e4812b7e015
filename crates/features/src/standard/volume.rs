//! Traded volume against its own past. Zero throughout where the file has none: an assumed volume is no information.

use super::ratio;
use crate::{
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
};

const CAUSAL: &str = "volumes of the bars up to t; known when t has closed";

fn log_ratio(s: &Series) -> Vec<f64> {
    let Some(volume) = &s.volume else { return vec![0.0; s.len()] };
    let mean = indicator::rolling_mean(volume, 24);
    (0..s.len()).map(|t| ((volume[t] + 1.0) / (mean[t] + 1.0)).ln()).collect()
}

fn score(s: &Series) -> Vec<f64> {
    let Some(volume) = &s.volume else { return vec![0.0; s.len()] };
    // Of logarithms: volume is skewed, and one rush would hide all else.
    let log: Vec<f64> = volume.iter().map(|v| v.ln_1p()).collect();
    let (mean, sd) = (indicator::rolling_mean(&log, 168), indicator::rolling_sd(&log, 168));
    (0..s.len()).map(|t| ratio(log[t] - mean[t], sd[t], 0.0)).collect()
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "volume_ratio_24",
        formula: "ln((V[t] + 1) / (mean of V over 24 bars + 1)); 0 without volume",
        window: 24,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 23,
        compute: log_ratio,
    },
    FeatureSpec {
        name: "volume_score_168",
        formula: "(v - mean of v) / sd of v, v = ln(1 + V), over 168 bars; 0 without volume or where sd is 0",
        window: 168,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 167,
        compute: score,
    },
];
