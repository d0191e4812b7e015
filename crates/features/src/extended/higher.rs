//! Bars of higher timeframes, of which those alone count that have ended.

use crate::{
    frames::Frames,
    indicator,
    series::Series,
    set::{FeatureSpec, Timeframe},
    standard::ratio,
};

const CAUSAL: &str = "a bar of the timeframe counts from the close of the first bar that reaches its end";
/// Largest share: a bar may follow one that hardly moved.
const LARGEST: f64 = 8.0;

fn log_return(s: &Series, frame: Timeframe) -> Vec<f64> {
    let frames = Frames::of(s, frame);
    let close = &frames.close;
    frames.rows(|_, bar| bar.checked_sub(1).map_or(f64::NAN, |before| (close[bar] / close[before]).ln()))
}

fn range(s: &Series, frame: Timeframe) -> Vec<f64> {
    let frames = Frames::of(s, frame);
    frames.rows(|_, bar| (frames.high[bar] / frames.low[bar]).ln())
}

fn position(s: &Series, frame: Timeframe) -> Vec<f64> {
    let frames = Frames::of(s, frame);
    frames.rows(|t, bar| {
        let (high, low) = (frames.high[bar], frames.low[bar]);
        ratio(2.0 * s.close[t] - high - low, high - low, 0.0).clamp(-LARGEST, LARGEST)
    })
}

fn strength(s: &Series, frame: Timeframe, n: usize) -> Vec<f64> {
    let frames = Frames::of(s, frame);
    let strength = indicator::rsi(&frames.close, n);
    frames.rows(|_, bar| strength[bar] / 50.0 - 1.0)
}

fn from_mean(s: &Series, frame: Timeframe, n: usize) -> Vec<f64> {
    let frames = Frames::of(s, frame);
    let mean = indicator::rolling_mean(&frames.close, n);
    frames.rows(|t, bar| (s.close[t] / mean[bar]).ln())
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "h4_return",
        formula: "ln(C of the last ended 4-hour bar / C of the one before)",
        window: 2,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::FourHours,
        warmup: 0,
        compute: |s| log_return(s, Timeframe::FourHours),
    },
    FeatureSpec {
        name: "h4_range",
        formula: "ln(H / L) of the last ended 4-hour bar",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::FourHours,
        warmup: 0,
        compute: |s| range(s, Timeframe::FourHours),
    },
    FeatureSpec {
        name: "h4_position",
        formula: "(2 C[t] - H - L) / (H - L), H and L of the last ended 4-hour bar, within 8; 0 without a range",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::FourHours,
        warmup: 0,
        compute: |s| position(s, Timeframe::FourHours),
    },
    FeatureSpec {
        name: "h4_rsi_14",
        formula: "RSI(14) of ended 4-hour bars / 50 - 1",
        window: 15,
        source: "Wilder 1978; TA-Lib RSI",
        causal: CAUSAL,
        timeframe: Timeframe::FourHours,
        warmup: 0,
        compute: |s| strength(s, Timeframe::FourHours, 14),
    },
    FeatureSpec {
        name: "day_return",
        formula: "ln(C of the last ended day / C of the one before)",
        window: 2,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Day,
        warmup: 0,
        compute: |s| log_return(s, Timeframe::Day),
    },
    FeatureSpec {
        name: "day_range",
        formula: "ln(H / L) of the last ended day",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Day,
        warmup: 0,
        compute: |s| range(s, Timeframe::Day),
    },
    FeatureSpec {
        name: "day_position",
        formula: "(2 C[t] - H - L) / (H - L), H and L of the last ended day, within 8; 0 without a range",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Day,
        warmup: 0,
        compute: |s| position(s, Timeframe::Day),
    },
    FeatureSpec {
        name: "day_mean_5",
        formula: "ln(C[t] / mean C of the last 5 ended days)",
        window: 5,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Day,
        warmup: 0,
        compute: |s| from_mean(s, Timeframe::Day, 5),
    },
    FeatureSpec {
        name: "week_return",
        formula: "ln(C of the last ended week / C of the one before)",
        window: 2,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Week,
        warmup: 0,
        compute: |s| log_return(s, Timeframe::Week),
    },
    FeatureSpec {
        name: "week_range",
        formula: "ln(H / L) of the last ended week",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Week,
        warmup: 0,
        compute: |s| range(s, Timeframe::Week),
    },
    FeatureSpec {
        name: "week_position",
        formula: "(2 C[t] - H - L) / (H - L), H and L of the last ended week, within 8; 0 without a range",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Week,
        warmup: 0,
        compute: |s| position(s, Timeframe::Week),
    },
];
