//! Log returns over several horizons.

use crate::{
    series::Series,
    set::{FeatureSpec, Timeframe},
};

const CAUSAL: &str = "closes of bars t and t-k only";

/// Log return over `k` bars; NaN before row k.
fn log_return(s: &Series, k: usize) -> Vec<f64> {
    let change = |t: usize| if t < k { f64::NAN } else { (s.close[t] / s.close[t - k]).ln() };
    (0..s.len()).map(change).collect()
}

macro_rules! spec {
    ($name:literal, $k:literal) => {
        FeatureSpec {
            name: $name,
            formula: concat!("ln(C[t] / C[t-", stringify!($k), "])"),
            window: $k + 1,
            source: "own",
            causal: CAUSAL,
            timeframe: Timeframe::Bar,
            warmup: $k,
            compute: |s| log_return(s, $k),
        }
    };
}

pub(super) const SPECS: &[FeatureSpec] = &[
    spec!("return_1", 1),
    spec!("return_2", 2),
    spec!("return_4", 4),
    spec!("return_8", 8),
    spec!("return_24", 24),
    spec!("return_72", 72),
    spec!("return_168", 168),
];
