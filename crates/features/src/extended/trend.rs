//! Direction and strength of a trend.

use crate::{
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
};

const CAUSAL: &str = "prices of the bars up to t";
const RECURSIVE: &str = "recursive averages of prices up to t";

fn movement(s: &Series, n: usize) -> indicator::Directional {
    indicator::directional(&s.high, &s.low, &s.close, n)
}

fn direction(s: &Series) -> Vec<f64> {
    let movement = movement(s, 14);
    movement.plus.iter().zip(&movement.minus).map(|(plus, minus)| (plus - minus) / 100.0).collect()
}

fn from_average(s: &Series, n: usize) -> Vec<f64> {
    indicator::ema(&s.close, n).iter().zip(&s.close).map(|(average, c)| c / average - 1.0).collect()
}

fn slope(s: &Series, n: usize) -> Vec<f64> {
    indicator::slope(&s.close, n).iter().zip(&s.close).map(|(slope, c)| slope / c).collect()
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "adx_14",
        formula: "ADX(14) / 100; 0 where nothing moved",
        window: 28,
        source: "Wilder 1978; TA-Lib ADX",
        causal: RECURSIVE,
        timeframe: Timeframe::Bar,
        warmup: 27,
        compute: |s| movement(s, 14).adx.into_iter().map(|v| v / 100.0).collect(),
    },
    FeatureSpec {
        name: "direction_14",
        formula: "(+DI(14) - -DI(14)) / 100; 0 where nothing moved",
        window: 15,
        source: "Wilder 1978; TA-Lib PLUS_DI, MINUS_DI",
        causal: RECURSIVE,
        timeframe: Timeframe::Bar,
        warmup: 14,
        compute: direction,
    },
    FeatureSpec {
        name: "aroon_25",
        formula: "Aroon oscillator(25) / 100: bars since the lowest L less bars since the highest H, over 25",
        window: 26,
        source: "Chande 1995; TA-Lib AROONOSC",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 25,
        compute: |s| indicator::aroon(&s.high, &s.low, 25).into_iter().map(|v| v / 100.0).collect(),
    },
    FeatureSpec {
        name: "cci_20",
        formula: "CCI(20) / 100: (p - mean of p) / (1.5 mean |p - mean of p|), p = (H + L + C) / 3; 0 where p stands still",
        window: 20,
        source: "Lambert 1980; TA-Lib CCI",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 19,
        compute: |s| indicator::cci(&s.high, &s.low, &s.close, 20).into_iter().map(|v| v / 100.0).collect(),
    },
    FeatureSpec {
        name: "slope_24",
        formula: "slope per bar of the least-squares line through 24 C, / C[t]",
        window: 24,
        source: "TA-Lib LINEARREG_SLOPE",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 23,
        compute: |s| slope(s, 24),
    },
    FeatureSpec {
        name: "ema_distance_50",
        formula: "C[t] / EMA50 of C - 1",
        window: 50,
        source: "TA-Lib EMA",
        causal: RECURSIVE,
        timeframe: Timeframe::Bar,
        warmup: 49,
        compute: |s| from_average(s, 50),
    },
    FeatureSpec {
        name: "efficiency_24",
        formula: "|C[t] - C[t-24]| / (sum of 24 |C[t] - C[t-1]|); 0 where nothing moved",
        window: 25,
        source: "Kaufman 1995",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 24,
        compute: |s| indicator::efficiency(&s.close, 24),
    },
];
