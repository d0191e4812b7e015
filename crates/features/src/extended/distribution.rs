//! How recent returns and closes are distributed.

use crate::{
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
    standard::ratio,
};

const CAUSAL: &str = "closes of the bars up to t";

/// `of` the returns, without the first row, which has none.
fn of_returns(s: &Series, of: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let known = s.log_return.get(1..).unwrap_or_default();
    let mut out = vec![f64::NAN; s.len() - known.len()];
    out.extend(of(known));
    out
}

fn variance_ratio(s: &Series, k: usize, n: usize) -> Vec<f64> {
    let log: Vec<f64> = s.close.iter().map(|c| c.ln()).collect();
    indicator::variance_ratio(&log, k, n)
}

fn score(s: &Series, n: usize) -> Vec<f64> {
    let (mean, sd) = (indicator::rolling_mean(&s.close, n), indicator::rolling_sd(&s.close, n));
    (0..s.len()).map(|t| ratio(s.close[t] - mean[t], sd[t], 0.0)).collect()
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "skew_72",
        formula: "skewness of 72 r, adjusted for bias; 0 where all are equal",
        window: 73,
        source: "Fisher and Pearson; pandas skew",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 72,
        compute: |s| of_returns(s, |r| indicator::skew(r, 72)),
    },
    FeatureSpec {
        name: "kurtosis_72",
        formula: "excess kurtosis of 72 r, adjusted for bias; 0 where all are equal",
        window: 73,
        source: "pandas kurt",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 72,
        compute: |s| of_returns(s, |r| indicator::kurtosis(r, 72)),
    },
    FeatureSpec {
        name: "autocorrelation_72",
        formula: "correlation of 72 r with the r one bar before; 0 where r stands still",
        window: 74,
        source: "pandas corr of r and r.shift(1)",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 73,
        compute: |s| of_returns(s, |r| indicator::autocorrelation(r, 72)),
    },
    FeatureSpec {
        name: "variance_ratio_8_168",
        formula: "mean square of ln(C[t]/C[t-8]) / (8 mean square of r) - 1 over 168 bars; 0 where nothing moved",
        window: 169,
        source: "Lo and MacKinlay 1988, mean taken as 0",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 168,
        compute: |s| variance_ratio(s, 8, 168),
    },
    FeatureSpec {
        name: "score_168",
        formula: "(C[t] - mean of C) / sd of C over 168 bars; 0 where sd is 0",
        window: 168,
        source: "z-score",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 167,
        compute: |s| score(s, 168),
    },
    FeatureSpec {
        name: "rank_168",
        formula: "2 rank of C[t] among 168 C / 168 - 1, mean rank of equal ones",
        window: 168,
        source: "pandas rank",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 167,
        compute: |s| indicator::rank(&s.close, 168).into_iter().map(|v| 2.0 * v - 1.0).collect(),
    },
];
