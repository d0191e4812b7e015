//! Realised volatility over several horizons, and how they compare.

use crate::{
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
};

/// Added to both sides of a ratio of volatilities (shares of the price), so that a window without a move has one: a hundredth of a bp.
pub(crate) const FLOOR: f64 = 1e-6;

/// Root mean squared log return of the last `n` bars; NaN before row n, for the first row has no return.
fn realised(s: &Series, n: usize) -> Vec<f64> {
    let square: Vec<f64> = s.log_return.iter().map(|r| r * r).collect();
    let mut out: Vec<f64> = indicator::rolling_mean(&square, n).into_iter().map(f64::sqrt).collect();
    out.iter_mut().take(n).for_each(|v| *v = f64::NAN);
    out
}

fn log_ratio(s: &Series, short: usize, long: usize) -> Vec<f64> {
    let pairs = realised(s, short).into_iter().zip(realised(s, long));
    pairs.map(|(a, b)| ((a + FLOOR) / (b + FLOOR)).ln()).collect()
}

const CAUSAL: &str = "returns of the bars up to t only";

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "volatility_24",
        formula: "sqrt(mean of r^2 over 24 bars)",
        window: 25,
        source: "realised volatility, mean taken as 0",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 24,
        compute: |s| realised(s, 24),
    },
    FeatureSpec {
        name: "volatility_168",
        formula: "sqrt(mean of r^2 over 168 bars)",
        window: 169,
        source: "realised volatility, mean taken as 0",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 168,
        compute: |s| realised(s, 168),
    },
    FeatureSpec {
        name: "volatility_ratio_8_24",
        formula: "ln((volatility_8 + 1e-6) / (volatility_24 + 1e-6))",
        window: 25,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 24,
        compute: |s| log_ratio(s, 8, 24),
    },
    FeatureSpec {
        name: "volatility_ratio_24_168",
        formula: "ln((volatility_24 + 1e-6) / (volatility_168 + 1e-6))",
        window: 169,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 168,
        compute: |s| log_ratio(s, 24, 168),
    },
];
