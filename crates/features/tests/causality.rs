//! No feature knows the future: changing every bar after t changes no bit of a row up to t. The test is itself tested with
//! a feature that peeks.

#![allow(clippy::unwrap_used, reason = "helpers of a test may fail it")]

use bytes::Bytes;
use foxhunt_data::{Bars, ExtraColumn, Session, sample};
use foxhunt_features::{FeatureSet, FeatureSpec, Timeframe, write_parquet};
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::RowAccessor,
};

/// A small generator (SplitMix64), so that a failure replays.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> i32 {
        (self.next() % n) as i32
    }
}

/// The same bars up to `t`; after it other prices, volumes and times, and some bars missing.
fn other_future(bars: &Bars, t: usize, random: &mut Random) -> Bars {
    let keep = bars.len() - random.below(20) as usize;
    let mut bars = bars.slice(0..keep.max(t + 1));
    let mut shift = 0;
    for i in t + 1..bars.len() {
        let low = 100_000 + random.below(200_000);
        let high = low + random.below(5_000);
        let inside = |random: &mut Random| low + random.below((high - low + 1) as u64);
        (bars.bid.low[i], bars.bid.high[i]) = (low, high);
        (bars.bid.open[i], bars.bid.close[i]) = (inside(random), inside(random));
        quote(&mut bars, i, 2 + 2 * random.below(50));
        bars.volume_lots[i] = i64::from(random.below(20_000_000));
        bars.extra.iter_mut().for_each(|c| c.values[i] = f64::from(random.below(1_000)));
        shift += i64::from(random.below(7_200)) * 1_000_000_000;
        bars.open_ns[i] += shift;
        bars.close_ns[i] += shift;
    }
    bars
}

/// Puts the ask, if there is one, `spread` above the bid.
fn quote(bars: &mut Bars, i: usize, spread: i32) {
    let Bars { bid, ask: Some(ask), .. } = bars else { return };
    for (ask, bid) in [
        (&mut ask.open, &bid.open),
        (&mut ask.high, &bid.high),
        (&mut ask.low, &bid.low),
        (&mut ask.close, &bid.close),
    ] {
        ask[i] = bid[i] + spread;
    }
}

/// Bars of the sample as quotes, with a spread that moves.
fn quotes(rows: usize) -> Bars {
    let mut bars = sample().slice(0..rows);
    bars.ask = Some(bars.bid.clone());
    (0..rows).for_each(|i| quote(&mut bars, i, 2 + 2 * (i as i32 * 7 % 11)));
    bars
}

/// Names of the features with a changed value in a row up to `t`.
fn peeking(set: &FeatureSet, bars: &Bars, t: usize, random: &mut Random) -> Vec<String> {
    let before = set.compute(bars).unwrap();
    let after = set.compute(&other_future(bars, t, random)).unwrap();
    let changed =
        |col: usize| (0..=t).any(|row| before.row(row)[col].to_bits() != after.row(row)[col].to_bits());
    (0..set.len()).filter(|&col| changed(col)).map(|col| before.names[col].clone()).collect()
}

#[test]
fn no_feature_reads_a_later_bar() {
    let bars = quotes(1_000);
    let set = FeatureSet::full();
    let mut random = Random(1);
    for t in [0, 13, 14, 33, 167, 168, 169, 500, 731, 998] {
        assert_eq!(peeking(&set, &bars, t, &mut random), Vec::<String>::new(), "t = {t}");
    }
}

/// Every row of two weeks, whose days, weeks and 4-hour spans end at some of them; with the market's nights and without.
#[test]
fn no_feature_of_a_higher_timeframe_reads_a_later_bar() {
    let round_the_clock = sample().slice(0..500);
    let mut shares = round_the_clock.clone();
    shares.instrument.session = Session {
        time_zone: "America/New_York".into(),
        day_start_s: 34_200,
        length_s: 23_400,
        flat_by_close: false,
    };
    let clock = shares.close_local().unwrap();
    let open: Vec<usize> = (0..500).filter(|&i| (34_200..=61_200).contains(&clock[i].second)).collect();
    let pick = |x: &[i64]| open.iter().map(|&i| x[i]).collect::<Vec<i64>>();
    (shares.open_ns, shares.close_ns, shares.volume_lots) =
        (pick(&shares.open_ns), pick(&shares.close_ns), pick(&shares.volume_lots));
    let side = &mut shares.bid;
    for column in [&mut side.open, &mut side.high, &mut side.low, &mut side.close] {
        *column = open.iter().map(|&i| column[i]).collect();
    }
    let full = FeatureSet::full();
    let higher = full.specs().iter().filter(|s| s.timeframe != Timeframe::Bar).copied().collect();
    let set = FeatureSet::new(higher).unwrap();
    assert_eq!(set.len(), 11);
    let mut random = Random(2);
    for bars in [round_the_clock, shares] {
        let rows = bars.len();
        for t in 0..rows - 1 {
            assert_eq!(peeking(&set, &bars, t, &mut random), Vec::<String>::new(), "t = {t} of {rows}");
        }
    }
}

#[test]
fn every_feature_reads_its_own_bar() {
    // The other side of the coin: the tests above would pass for features that never change.
    let bars = quotes(1_000);
    let set = FeatureSet::full();
    let mut moved = vec![false; set.len()];
    for t in [500, 501, 502] {
        let before = set.compute(&bars).unwrap();
        let after = set.compute(&other_future(&bars, t, &mut Random(t as u64))).unwrap();
        for (col, moved) in moved.iter_mut().enumerate() {
            // A bar of a higher timeframe takes its time to end.
            let last = if set.specs()[col].timeframe == Timeframe::Bar { t + 1 } else { after.rows - 1 };
            *moved |= (t + 1..=last).any(|row| before.row(row)[col] != after.row(row)[col]);
        }
    }
    let still: Vec<&str> =
        set.specs().iter().zip(&moved).filter(|(_, moved)| !**moved).map(|(s, _)| s.name).collect();
    assert_eq!(still, Vec::<&str>::new());
}

#[test]
fn a_planted_peek_is_caught() {
    const PEEK: FeatureSpec = FeatureSpec {
        name: "peek",
        formula: "ln(C[t+1] / C[t])",
        window: 2,
        source: "planted",
        causal: "it is not",
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| (0..s.len()).map(|t| (s.close[(t + 1).min(s.len() - 1)] / s.close[t]).ln()).collect(),
    };
    const FRAME_WIDE: FeatureSpec = FeatureSpec {
        name: "frame_wide",
        formula: "C[t] / mean of all C",
        window: 1,
        source: "planted",
        causal: "it is not",
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| {
            let mean = s.close.iter().sum::<f64>() / s.len() as f64;
            s.close.iter().map(|c| c / mean).collect()
        },
    };
    // A value that is known on every seventh bar alone; elsewhere the next one is filled back, as a frame-wide back-fill and an
    // as-of join in the wrong direction do.
    const BACK_FILLED: FeatureSpec = FeatureSpec {
        name: "back_filled",
        formula: "C of the next seventh bar",
        window: 1,
        source: "planted",
        causal: "it is not",
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| (0..s.len()).map(|t| s.close[t.next_multiple_of(7).min(s.len() - 1)]).collect(),
    };
    // The high of the coarse bar of 24 that t lies in, shown before that bar has closed.
    const COARSE_OPEN: FeatureSpec = FeatureSpec {
        name: "coarse_open",
        formula: "max H of the 24 bars that t is among",
        window: 1,
        source: "planted",
        causal: "it is not",
        timeframe: Timeframe::Bar,
        warmup: 0,
        compute: |s| {
            let high = |t: usize| &s.high[t / 24 * 24..(t / 24 * 24 + 24).min(s.len())];
            (0..s.len()).map(|t| high(t).iter().copied().fold(0.0, f64::max)).collect()
        },
    };
    let bars = sample().slice(0..300);
    let mut specs = FeatureSet::full().specs().to_vec();
    specs.extend([PEEK, FRAME_WIDE, BACK_FILLED, COARSE_OPEN]);
    let set = FeatureSet::new(specs).unwrap();
    let found = peeking(&set, &bars, 200, &mut Random(3));
    assert_eq!(found, ["peek", "frame_wide", "back_filled", "coarse_open"]);
}

/// A column of the file is its own row's, and its warm-up ends with its first value.
#[test]
fn a_column_of_the_file_reads_no_later_bar() {
    let mut bars = quotes(400);
    let values = (0..400).map(|i| if i < 50 { 0.0 } else { f64::from(i % 13) }).collect();
    bars.extra = vec![ExtraColumn { name: "my mood".into(), first: 50, values }];
    let set = FeatureSet::of_names(&["return_1"]).unwrap().with_columns(&["my mood".into()]).unwrap();
    for t in [50, 51, 200, 398] {
        assert_eq!(peeking(&set, &bars, t, &mut Random(t as u64)), Vec::<String>::new(), "t = {t}");
    }
    let table = set.compute(&bars).unwrap();
    assert_eq!((table.warmup_rows, table.row(57)[1], table.names[1].as_str()), (50, 5.0, "my mood"));
    let written = write_parquet("x", &bars, &set.columns(&bars).unwrap(), Vec::new()).unwrap();
    let read = SerializedFileReader::new(Bytes::from(written)).unwrap();
    let row = |i: usize| read.get_row_iter(None).unwrap().nth(i).unwrap().unwrap();
    assert!(row(49).get_float(3).is_err(), "null before its first value");
    assert_eq!(
        (row(57).get_float(3).unwrap(), row(49).get_bool(1).unwrap(), row(50).get_bool(1).unwrap()),
        (5.0, true, false)
    );
    bars.extra.clear();
    let said = set.compute(&bars).unwrap_err().to_string();
    assert!(said.contains("without the column 'my mood' (features.columns)"), "{said}");
}
