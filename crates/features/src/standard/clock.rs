//! Time: on the market's own clock (its zone, daylight saving followed), and since the last bar.

use std::f64::consts::TAU;

use crate::{
    series::Series,
    set::{FeatureSpec, Timeframe},
};

const DAY: f64 = 86_400.0;
const CAUSAL: &str = "the clock at the close of bar t";

fn day(s: &Series, wave: fn(f64) -> f64) -> Vec<f64> {
    s.local.iter().map(|l| wave(TAU * f64::from(l.second) / DAY)).collect()
}

fn week(s: &Series, wave: fn(f64) -> f64) -> Vec<f64> {
    let share = |weekday: u8, second: u32| (f64::from(weekday) + f64::from(second) / DAY) / 7.0;
    s.local.iter().map(|l| wave(TAU * share(l.weekday, l.second))).collect()
}

fn since_last(s: &Series) -> Vec<f64> {
    (0..s.len()).map(|t| (s.gap_seconds[t] / s.bar_seconds[t].max(1.0)).ln_1p()).collect()
}

pub(super) const SPECS: &[FeatureSpec] = &[
    FeatureSpec {
        name: "day_sin",
        formula: "sin of the local time of day at the close, one turn a day",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| day(s, f64::sin),
    },
    FeatureSpec {
        name: "day_cos",
        formula: "cos of the same angle",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| day(s, f64::cos),
    },
    FeatureSpec {
        name: "week_sin",
        formula: "sin of the local time of week at the close, one turn a week from Monday 00:00",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| week(s, f64::sin),
    },
    FeatureSpec {
        name: "week_cos",
        formula: "cos of the same angle",
        window: 1,
        source: "own",
        causal: CAUSAL,
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| week(s, f64::cos),
    },
    FeatureSpec {
        name: "since_last_bar",
        formula: "ln(1 + seconds from the previous close to this open / bar seconds)",
        window: 2,
        source: "own",
        causal: "close of bar t-1 and open of bar t",
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: since_last,
    },
];
