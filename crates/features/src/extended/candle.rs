//! Shape of the bar itself.

use crate::{
    series::Series,
    set::{FeatureSpec, Timeframe},
    standard::ratio,
};

const CAUSAL: &str = "prices of bar t, which has closed";

/// `part` of each bar over its range; 0 without a range.
fn share(s: &Series, part: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..s.len()).map(|t| ratio(part(t), s.high[t] - s.low[t], 0.0)).collect()
}

fn jump(s: &Series) -> Vec<f64> {
    let at = |t: usize| t.checked_sub(1).map_or(f64::NAN, |before| (s.open[t] / s.close[before]).ln());
    (0..s.len()).map(at).collect()
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "body",
        formula: "(C - O) / (H - L); 0 without a range",
        window: 1,
        source: "candlestick",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| share(s, |t| s.close[t] - s.open[t]),
    },
    FeatureSpec {
        name: "upper_shadow",
        formula: "(H - max(O, C)) / (H - L); 0 without a range",
        window: 1,
        source: "candlestick",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| share(s, |t| s.high[t] - s.open[t].max(s.close[t])),
    },
    FeatureSpec {
        name: "lower_shadow",
        formula: "(min(O, C) - L) / (H - L); 0 without a range",
        window: 1,
        source: "candlestick",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| share(s, |t| s.open[t].min(s.close[t]) - s.low[t]),
    },
    FeatureSpec {
        name: "jump",
        formula: "ln(O[t] / C[t-1])",
        window: 2,
        source: "own",
        causal: "close of bar t-1 and open of bar t",
        timeframe: Timeframe::Bar,
        warmup: 1,
        compute: jump,
    },
];
