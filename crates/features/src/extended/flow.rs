//! Price and volume together. Zero throughout where the file has no volume: an assumed one is no information.

use crate::{
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
};

const CAUSAL: &str = "prices and volumes of the bars up to t; known when t has closed";

/// What `of` makes of the volume, or zeros.
fn with_volume(s: &Series, of: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    s.volume.as_ref().map_or_else(|| vec![0.0; s.len()], |volume| of(volume))
}

fn from_vwap(s: &Series, n: usize) -> Vec<f64> {
    with_volume(s, |volume| {
        let vwap = indicator::vwap(&s.high, &s.low, &s.close, volume, n);
        (0..s.len()).map(|t| s.close[t] / vwap[t] - 1.0).collect()
    })
}

fn illiquidity(s: &Series, short: usize, long: usize) -> Vec<f64> {
    with_volume(s, |volume| {
        let of = |n| indicator::amihud(&s.log_return, &s.close, volume, n);
        let pairs = of(short).into_iter().zip(of(long));
        // Without trades or moves in a window there is nothing to compare.
        pairs.map(|(a, b)| if a == 0.0 || b == 0.0 { 0.0 } else { (a / b).ln() }).collect()
    })
}

fn money_flow(s: &Series) -> Vec<f64> {
    with_volume(s, |volume| {
        let flow = indicator::money_flow(&s.high, &s.low, &s.close, volume, 14);
        flow.into_iter().map(|v| v / 50.0 - 1.0).collect()
    })
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "obv_slope_24",
        formula: "slope per bar of the least-squares line through 24 bars of on-balance volume, / mean of V; 0 without volume",
        window: 24,
        source: "Granville 1963; TA-Lib OBV",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 23,
        compute: |s| with_volume(s, |v| indicator::balance_slope(&s.close, v, 24)),
    },
    FeatureSpec {
        name: "vwap_distance_24",
        formula: "C[t] / VWAP of 24 bars - 1, of typical prices (H + L + C) / 3; 0 without volume",
        window: 24,
        source: "common",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 23,
        compute: |s| from_vwap(s, 24),
    },
    FeatureSpec {
        name: "illiquidity_24_168",
        formula: "ln(I24 / I168), I the mean of |r| / (C V) over bars with volume; 0 where either is 0 or without volume",
        window: 169,
        source: "Amihud 2002",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 168,
        compute: |s| illiquidity(s, 24, 168),
    },
    FeatureSpec {
        name: "money_flow_14",
        formula: "MFI(14) / 50 - 1; 0 where no money flowed or without volume",
        window: 15,
        source: "Quong and Soudack 1989; TA-Lib MFI",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 14,
        compute: money_flow,
    },
    FeatureSpec {
        name: "chaikin_flow_21",
        formula: "sum of V (2 C - H - L) / (H - L) over 21 bars / sum of V; 0 without volume",
        window: 21,
        source: "Chaikin",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 20,
        compute: |s| with_volume(s, |v| indicator::chaikin(&s.high, &s.low, &s.close, v, 21)),
    },
];
