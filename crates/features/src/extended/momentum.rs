//! Speed of the price.

use crate::{
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
};

const CAUSAL: &str = "prices of the bars up to t";

/// From 0 .. 100 to -1 .. 1.
fn centred(x: Vec<f64>) -> Vec<f64> {
    x.into_iter().map(|v| v / 50.0 - 1.0).collect()
}

fn fast(s: &Series, n: usize) -> Vec<f64> {
    indicator::stochastic(&s.high, &s.low, &s.close, n)
}

fn slow(s: &Series) -> Vec<f64> {
    indicator::mean_of_known(&fast(s, 14), 3)
}

fn rate_of_change(s: &Series, n: usize) -> Vec<f64> {
    (0..s.len()).map(|t| if t < n { f64::NAN } else { s.close[t] / s.close[t - n] - 1.0 }).collect()
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "roc_12",
        formula: "C[t] / C[t-12] - 1",
        window: 13,
        source: "TA-Lib ROCP",
        causal: "closes of bars t and t-12 only",
        timeframe: Timeframe::Bar,
        warmup: 12,
        compute: |s| rate_of_change(s, 12),
    },
    FeatureSpec {
        name: "stochastic_k_14",
        formula: "slow %K(14, 3) / 50 - 1: mean of 3 fast %K; fast %K is 50 where there is no range",
        window: 16,
        source: "Lane; TA-Lib STOCH",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 15,
        compute: |s| centred(slow(s)),
    },
    FeatureSpec {
        name: "stochastic_d_14",
        formula: "%D / 50 - 1: mean of 3 slow %K(14, 3)",
        window: 18,
        source: "Lane; TA-Lib STOCH",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 17,
        compute: |s| centred(indicator::mean_of_known(&slow(s), 3)),
    },
    FeatureSpec {
        name: "williams_r_14",
        formula: "Williams %R(14) / 50 + 1: -1 at the lowest L, 1 at the highest H; 0 without a range",
        window: 14,
        source: "Williams; TA-Lib WILLR",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 13,
        compute: |s| centred(fast(s, 14)),
    },
    FeatureSpec {
        name: "chande_14",
        formula: "CMO / 100: (sum of rises - sum of falls) / (sum of both), plain sums over 14; 0 where nothing moved",
        window: 15,
        source: "Chande 1994 (TA-Lib CMO smooths, and is 2 RSI - 100)",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 14,
        compute: |s| indicator::chande(&s.close, 14).into_iter().map(|v| v / 100.0).collect(),
    },
    FeatureSpec {
        name: "trix_15",
        formula: "TRIX(15), percent: change of the triple EMA15 of C in a bar",
        window: 44,
        source: "Hutson 1983; TA-Lib TRIX",
        causal: "recursive averages of closes up to t",
        timeframe: Timeframe::Bar,
        warmup: 43,
        compute: |s| indicator::trix(&s.close, 15),
    },
];
