//! Where the price stands within its own recent past.

use super::ratio;
use crate::{
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
};

fn atr_share(s: &Series) -> Vec<f64> {
    let atr = indicator::atr(&s.high, &s.low, &s.close, 14);
    atr.iter().zip(&s.close).map(|(a, c)| a / c).collect()
}

fn bollinger(s: &Series) -> Vec<f64> {
    let (mean, sd) = (indicator::rolling_mean(&s.close, 20), indicator::rolling_sd(&s.close, 20));
    (0..s.len()).map(|t| ratio(s.close[t] - mean[t], sd[t], 0.0)).collect()
}

fn macd_line(s: &Series) -> Vec<f64> {
    let macd = indicator::macd(&s.close, 12, 26, 9);
    macd.line.iter().zip(&s.close).map(|(l, c)| l / c).collect()
}

fn macd_histogram(s: &Series) -> Vec<f64> {
    let macd = indicator::macd(&s.close, 12, 26, 9);
    (0..s.len()).map(|t| (macd.line[t] - macd.signal[t]) / s.close[t]).collect()
}

fn range_position(s: &Series, n: usize) -> Vec<f64> {
    let (high, low) = (indicator::rolling_max(&s.high, n), indicator::rolling_min(&s.low, n));
    (0..s.len()).map(|t| ratio(2.0 * s.close[t] - high[t] - low[t], high[t] - low[t], 0.0)).collect()
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "rsi_14",
        formula: "RSI(14) / 50 - 1",
        window: 15,
        source: "Wilder 1978; TA-Lib RSI",
        causal: "Wilder average of closes up to t",
        timeframe: Timeframe::Bar,
        warmup: 14,
        compute: |s| indicator::rsi(&s.close, 14).into_iter().map(|v| v / 50.0 - 1.0).collect(),
    },
    FeatureSpec {
        name: "atr_14",
        formula: "ATR(14) / C[t]",
        window: 15,
        source: "Wilder 1978; TA-Lib NATR / 100",
        causal: "Wilder average of ranges up to t",
        timeframe: Timeframe::Bar,
        warmup: 14,
        compute: atr_share,
    },
    FeatureSpec {
        name: "bollinger_20",
        formula: "(C[t] - mean of C) / sd of C, both over 20 bars; 0 where sd is 0",
        window: 20,
        source: "Bollinger; TA-Lib BBANDS",
        causal: "closes of the 20 bars up to t",
        timeframe: Timeframe::Bar,
        warmup: 19,
        compute: bollinger,
    },
    FeatureSpec {
        name: "macd_line",
        formula: "(EMA12 - EMA26) of C / C[t]",
        window: 26,
        source: "Appel; TA-Lib MACD",
        causal: "recursive averages of closes up to t",
        timeframe: Timeframe::Bar,
        warmup: 25,
        compute: macd_line,
    },
    FeatureSpec {
        name: "macd_histogram",
        formula: "(line - EMA9 of line) / C[t]",
        window: 34,
        source: "Appel; TA-Lib MACD",
        causal: "recursive averages of closes up to t",
        timeframe: Timeframe::Bar,
        warmup: 33,
        compute: macd_histogram,
    },
    FeatureSpec {
        name: "range_position_24",
        formula: "(2 C[t] - H - L) / (H - L), H and L the extremes of 24 bars; 0 where they are equal",
        window: 24,
        source: "stochastic oscillator, centred",
        causal: "extremes of the 24 bars up to t",
        timeframe: Timeframe::Bar,
        warmup: 23,
        compute: |s| range_position(s, 24),
    },
];
