//! From files to normalised features.

#![allow(clippy::unwrap_used, reason = "helpers of a test may fail it")]

use std::path::PathBuf;

use foxhunt_data::{Bars, LoadOptions, load, sample};
use foxhunt_features::{FeatureError, FeatureSet, Moments, Normaliser, Splits};

/// A file of the shared data folder, or `None` with a notice where there is no such folder.
fn shared(name: &str) -> Option<Bars> {
    let root = std::env::var_os("FOXHUNT_SHARED_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = root.join("ohlcv").join(name);
    if !path.exists() {
        println!("skipped: no shared data file ohlcv/{name}");
        return None;
    }
    Some(load(path, &LoadOptions::default()).unwrap())
}

fn normalised_is_centred(bars: &Bars) -> (usize, f64, Vec<String>) {
    let table = FeatureSet::standard().compute(bars).unwrap();
    let splits = Splits::by_fraction(table.usable(), 0.7, 0.15, 256).unwrap();
    let normaliser = Normaliser::fit(&table, splits.train.clone()).unwrap();
    let out = normaliser.apply(&table).unwrap();
    assert!(out.values.iter().all(|v| v.abs() <= 8.0));
    for col in 0..out.cols {
        let column: Vec<f64> =
            splits.train.clone().map(|t| f64::from(out.values[t * out.cols + col])).collect();
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        assert!(mean.abs() < 0.05, "{}: {mean}", out.names[col]);
    }
    // Columns that did not move in the training window, and the share of all values that were clipped.
    let constant = normaliser.names.iter().zip(&normaliser.sd).filter(|(_, sd)| **sd == 0.0);
    let clipped = out.clipped.iter().sum::<usize>() as f64;
    let share = clipped / ((out.rows - out.warmup_rows) * out.cols) as f64;
    (table.rows, share, constant.map(|(name, _)| name.clone()).collect())
}

#[test]
fn the_sample_becomes_a_normalised_table() {
    let bars = sample();
    let table = FeatureSet::standard().compute(&bars).unwrap();
    assert_eq!((table.rows, table.cols, table.warmup_rows), (6_225, 24, 168));
    assert_eq!(table.names[0], "return_1");
    // Row 1 by hand: closes 1.05227 and 1.05282; it closes at 2017-01-02 00:00 UTC, Sunday 19:00 in New York.
    let row = table.row(1);
    assert_eq!(row[0], (1.05282_f64 / 1.05227).ln() as f32);
    let column = |name: &str| table.names.iter().position(|n| n == name).unwrap();
    let angle = std::f64::consts::TAU * 19.0 / 24.0;
    assert_eq!(row[column("day_sin")], angle.sin() as f32);
    assert_eq!(row[column("since_last_bar")], 0.0);
    // 2017-01-08 22:00, the first bar after the first weekend, 48 h after the Friday close.
    let monday = (0..bars.len()).find(|&i| bars.gap_seconds(i) > 0).unwrap();
    assert_eq!(bars.gap_seconds(monday), 172_800);
    assert_eq!(table.row(monday)[column("since_last_bar")], 49.0_f64.ln() as f32);
    let (_, share, constant) = normalised_is_centred(&bars);
    assert_eq!(constant, Vec::<String>::new());
    assert!(share < 0.002, "{share}");
}

#[test]
fn shared_files_become_normalised_tables() {
    for (name, rows, still) in [
        ("xbtusd_kraken_1h_2013_2023.csv.gz", 70_253, vec![]),
        ("eurusd_1h_bidask_2007_2018.csv.gz", 74_439, vec!["volume_ratio_24", "volume_score_168"]),
        ("nvda_1m_202301.csv.gz", 7_410, vec![]),
    ] {
        let Some(bars) = shared(name) else { continue };
        let (got, share, constant) = normalised_is_centred(&bars);
        println!("{name}: {share:.5} of values clipped");
        assert_eq!((got, constant), (rows, still.into_iter().map(str::to_owned).collect()));
        assert!(share < 0.01, "{name}: {share}");
    }
}

#[test]
fn the_normaliser_knows_the_training_window_alone() {
    let bars = sample().slice(0..2_000);
    let set = FeatureSet::standard();
    let table = set.compute(&bars).unwrap();
    let fitted = Normaliser::fit(&table, 168..1_000).unwrap();
    let mut changed = bars.clone();
    for i in 1_000..2_000 {
        changed.bid.close[i] = changed.bid.low[i];
    }
    let again = Normaliser::fit(&set.compute(&changed).unwrap(), 168..1_000).unwrap();
    assert_eq!(fitted, again);
}

#[test]
fn splits_by_time_leave_out_a_bar_that_is_open() {
    let bars = sample();
    let half_past = |i: usize| bars.open_ns[i] + 1_800_000_000_000;
    let at = Moments {
        train_from_ns: None,
        validation_from_ns: half_past(4_000),
        test_from_ns: bars.open_ns[5_000],
        test_to_ns: None,
    };
    let by = |at| Splits::by_time(&bars, 168..6_225, at, 100);
    let splits = by(at).unwrap();
    assert_eq!((splits.train, splits.validation, splits.test), (168..4_000, 4_001..5_000, 5_000..6_225));
    let ends = Moments { train_from_ns: Some(half_past(1_000)), test_to_ns: Some(half_past(6_000)), ..at };
    let splits = by(ends).unwrap();
    assert_eq!((splits.train, splits.validation, splits.test), (1_001..4_000, 4_001..5_000, 5_000..6_000));
    // The warm-up stays out, whatever the date.
    let early = Moments { train_from_ns: Some(bars.open_ns[10]), ..at };
    assert_eq!(by(early).unwrap().train, 168..4_000);
    for wrong in [
        Moments { validation_from_ns: at.test_from_ns, ..at },
        Moments { train_from_ns: Some(at.validation_from_ns), ..at },
        Moments { test_to_ns: Some(at.test_from_ns), ..at },
    ] {
        assert!(matches!(by(wrong), Err(FeatureError::Split { .. })), "{wrong:?}");
    }
    let short = by(Moments { validation_from_ns: bars.open_ns[4_990], ..at });
    assert!(matches!(short, Err(FeatureError::TooShort { window: "validation", rows: 10, .. })));
}

#[test]
fn names_are_unique_and_every_feature_is_described() {
    let set = FeatureSet::full();
    let standard = FeatureSet::standard();
    assert_eq!((standard.len(), set.len()), (24, 75));
    for (own, full) in standard.specs().iter().zip(set.specs()) {
        assert_eq!(own.name, full.name, "the full set begins with the standard one");
    }
    for spec in set.specs() {
        for text in [spec.formula, spec.source, spec.causal] {
            assert!(!text.is_empty(), "{}", spec.name);
        }
        assert!(spec.warmup <= spec.window, "{}", spec.name);
    }
    assert!(FeatureSet::new(set.specs().to_vec()).is_ok());
    let twice = [set.specs(), &set.specs()[..1]].concat();
    assert!(matches!(FeatureSet::new(twice), Err(FeatureError::Duplicate { name }) if name == "return_1"));
}

#[test]
fn values_of_one_row_by_definition() {
    let bars = sample();
    let table = FeatureSet::standard().compute(&bars).unwrap();
    let t = 500;
    let value = |name: &str| f64::from(table.row(t)[table.names.iter().position(|n| n == name).unwrap()]);
    let close = |i: usize| f64::from(bars.bid.close[i]);
    let volatility = |n: usize| {
        let sum: f64 = (t + 1 - n..=t).map(|i| (close(i) / close(i - 1)).ln().powi(2)).sum();
        (sum / n as f64).sqrt()
    };
    let ratio = |a: usize, b: usize| ((volatility(a) + 1e-6) / (volatility(b) + 1e-6)).ln();
    let (high, low) =
        (bars.bid.high[t - 23..=t].iter().max().unwrap(), bars.bid.low[t - 23..=t].iter().min().unwrap());
    let (high, low) = (f64::from(*high), f64::from(*low));
    let volume = |i: usize| bars.volume_lots[i] as f64;
    let mean_volume = (t - 23..=t).map(volume).sum::<f64>() / 24.0;
    let logs: Vec<f64> = (t - 167..=t).map(|i| volume(i).ln_1p()).collect();
    let mean = logs.iter().sum::<f64>() / 168.0;
    let sd = (logs.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 168.0).sqrt();
    for (name, expected) in [
        ("return_1", (close(500) / close(499)).ln()),
        ("return_168", (close(500) / close(332)).ln()),
        ("volatility_24", volatility(24)),
        ("volatility_168", volatility(168)),
        ("volatility_ratio_8_24", ratio(8, 24)),
        ("volatility_ratio_24_168", ratio(24, 168)),
        ("range_position_24", (2.0 * close(t) - high - low) / (high - low)),
        ("volume_ratio_24", ((volume(t) + 1.0) / (mean_volume + 1.0)).ln()),
        ("volume_score_168", (logs[167] - mean) / sd),
    ] {
        let got = value(name);
        assert!((got - expected).abs() <= 1e-6 * expected.abs(), "{name}: {got} and {expected}");
    }
}

/// Prices that stand still, volumes of zero, the highest prices that a grid holds, a bar or two: every value is a number.
#[test]
fn no_market_gives_what_is_no_number() {
    let set = FeatureSet::full();
    let rows = 600;
    let with = |change: &dyn Fn(&mut Bars, usize)| {
        let mut bars = sample().slice(0..rows);
        (0..rows).for_each(|i| change(&mut bars, i));
        bars
    };
    fn put(bars: &mut Bars, i: usize, [open, high, low, close]: [i32; 4]) {
        let side = &mut bars.bid;
        (side.open[i], side.high[i], side.low[i], side.close[i]) = (open, high, low, close);
    }
    let top = i32::MAX;
    let mut markets = vec![
        ("flat", with(&|bars, i| put(bars, i, [200_001; 4]))),
        ("flat at one", with(&|bars, i| put(bars, i, [1; 4]))),
        (
            "flat and untraded",
            with(&|bars, i| {
                put(bars, i, [333_333; 4]);
                bars.volume_lots[i] = 0;
            }),
        ),
        ("untraded", with(&|bars, i| bars.volume_lots[i] = 0)),
        ("traded once", with(&|bars, i| bars.volume_lots[i] = i64::from(i == 300))),
        ("highest", with(&|bars, i| put(bars, i, [top - 1, top, top - 2 - i as i32 % 3, top - 1]))),
        (
            "from lowest to highest",
            with(&|bars, i| put(bars, i, if i % 2 == 0 { [1, top, 1, top] } else { [top, top, 1, 1] })),
        ),
        ("huge volumes", with(&|bars, i| bars.volume_lots[i] = 1_000_000_000_000_000 + i as i64)),
        ("one move", with(&|bars, i| put(bars, i, [100_000 + i32::from(i > 300); 4]))),
        ("without volume", {
            let mut bars = sample().slice(0..rows);
            bars.has_volume = false;
            bars
        }),
    ];
    for rows in [1, 2, 3, 25, 170] {
        markets.push(("short", sample().slice(0..rows)));
    }
    let quotes: Vec<Bars> =
        markets.iter().map(|(_, bars)| Bars { ask: Some(bars.bid.clone()), ..bars.clone() }).collect();
    markets.extend(quotes.into_iter().map(|bars| ("in quotes", bars)));
    for (name, bars) in &markets {
        let table = set.compute(bars).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(table.values.iter().all(|v| v.is_finite()), "{name}");
        assert_eq!(table.rows, bars.len());
    }
    // A table without a usable row is refused where it is divided, not here.
    assert!(set.compute(&sample().slice(0..1)).unwrap().usable().is_empty());
}
