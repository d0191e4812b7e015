//! Volatility from ranges, bands, and how volatile volatility is.

use crate::{
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
    standard::{FLOOR, ratio},
};

const CAUSAL: &str = "prices of the bars up to t";

fn root(x: Vec<f64>) -> Vec<f64> {
    x.into_iter().map(f64::sqrt).collect()
}

fn percent_b(s: &Series, n: usize) -> Vec<f64> {
    let (mean, sd) = (indicator::rolling_mean(&s.close, n), indicator::rolling_sd(&s.close, n));
    (0..s.len()).map(|t| ratio(s.close[t] - mean[t] + 2.0 * sd[t], 4.0 * sd[t], 0.5)).collect()
}

fn width(s: &Series, n: usize) -> Vec<f64> {
    let (mean, sd) = (indicator::rolling_mean(&s.close, n), indicator::rolling_sd(&s.close, n));
    (0..s.len()).map(|t| 4.0 * sd[t] / mean[t]).collect()
}

fn atr_ratio(s: &Series, short: usize, long: usize) -> Vec<f64> {
    let atr = |n| indicator::atr(&s.high, &s.low, &s.close, n);
    let (short, long) = (atr(short), atr(long));
    (0..s.len()).map(|t| ((short[t] / s.close[t] + FLOOR) / (long[t] / s.close[t] + FLOOR)).ln()).collect()
}

/// Deviation over mean of realised volatility, both over `n` bars.
fn of_volatility(s: &Series, short: usize, n: usize) -> Vec<f64> {
    let mut square: Vec<f64> = s.log_return.iter().map(|r| r * r).collect();
    if let Some(first) = square.first_mut() {
        // The first row has no return; its windows are left out.
        *first = f64::NAN;
    }
    let realised = root(indicator::rolling_mean(&square, short));
    let (mean, sd) = (indicator::rolling_mean(&realised, n), indicator::rolling_sd(&realised, n));
    (0..s.len()).map(|t| ratio(sd[t], mean[t], 0.0)).collect()
}

/// (down - up) / (down + up) of squared returns.
fn downside(s: &Series, n: usize) -> Vec<f64> {
    let signed: Vec<f64> = s.log_return.iter().map(|r| -r * r.abs()).collect();
    let square: Vec<f64> = s.log_return.iter().map(|r| r * r).collect();
    let (signed, square) = (indicator::rolling_mean(&signed, n), indicator::rolling_mean(&square, n));
    (0..s.len()).map(|t| if t < n { f64::NAN } else { ratio(signed[t], square[t], 0.0) }).collect()
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "parkinson_24",
        formula: "sqrt(mean of ln(H/L)^2 over 24 bars / (4 ln 2))",
        window: 24,
        source: "Parkinson 1980",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 23,
        compute: |s| root(indicator::parkinson(&s.high, &s.low, 24)),
    },
    FeatureSpec {
        name: "garman_klass_24",
        formula: "sqrt(mean over 24 bars of ln(H/L)^2 / 2 - (2 ln 2 - 1) ln(C/O)^2)",
        window: 24,
        source: "Garman and Klass 1980",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 23,
        compute: |s| root(indicator::garman_klass(&s.open, &s.high, &s.low, &s.close, 24)),
    },
    FeatureSpec {
        name: "rogers_satchell_24",
        formula: "sqrt(mean over 24 bars of ln(H/C) ln(H/O) + ln(L/C) ln(L/O))",
        window: 24,
        source: "Rogers and Satchell 1991",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 23,
        compute: |s| root(indicator::rogers_satchell(&s.open, &s.high, &s.low, &s.close, 24)),
    },
    FeatureSpec {
        name: "yang_zhang_24",
        formula: "sqrt(Var(ln(O[t]/C[t-1])) + k Var(ln(C/O)) + (1 - k) RS) over 24 bars, k = 0.34 / (1.34 + 25/23)",
        window: 25,
        source: "Yang and Zhang 2000",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 24,
        compute: |s| root(indicator::yang_zhang(&s.open, &s.high, &s.low, &s.close, 24)),
    },
    FeatureSpec {
        name: "percent_b_48",
        formula: "%b: (C[t] - lower) / (upper - lower), bands at mean +- 2 sd of 48 C; 0.5 where sd is 0",
        window: 48,
        source: "Bollinger; TA-Lib BBANDS",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 47,
        compute: |s| percent_b(s, 48),
    },
    FeatureSpec {
        name: "band_width_20",
        formula: "(upper - lower) / mean, bands at mean +- 2 sd of 20 C",
        window: 20,
        source: "Bollinger; TA-Lib BBANDS",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 19,
        compute: |s| width(s, 20),
    },
    FeatureSpec {
        name: "atr_ratio_7_28",
        formula: "ln((ATR7 / C[t] + 1e-6) / (ATR28 / C[t] + 1e-6))",
        window: 29,
        source: "own; TA-Lib ATR",
        causal: "Wilder averages of ranges up to t",
        timeframe: Timeframe::Bar,
        warmup: 28,
        compute: |s| atr_ratio(s, 7, 28),
    },
    FeatureSpec {
        name: "volatility_of_volatility_72",
        formula: "sd / mean over 72 bars of volatility over 8 bars; 0 where that is 0",
        window: 80,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 79,
        compute: |s| of_volatility(s, 8, 72),
    },
    FeatureSpec {
        name: "downside_48",
        formula: "(sum of r^2 of falls - sum of r^2 of rises) / (sum of both) over 48 bars; 0 where nothing moved",
        window: 49,
        source: "Barndorff-Nielsen et al. 2010, semivariances",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 48,
        compute: |s| downside(s, 48),
    },
];
