//! No feature knows the future: changing every bar after t changes no bit of a row up to t. The test is itself tested with
//! a feature that peeks.

#![allow(clippy::unwrap_used, reason = "helpers of a test may fail it")]

use foxhunt_data::{Bars, sample};
use foxhunt_features::{FeatureSet, FeatureSpec};

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
        bars.volume_lots[i] = i64::from(random.below(20_000_000));
        shift += i64::from(random.below(7_200)) * 1_000_000_000;
        bars.open_ns[i] += shift;
        bars.close_ns[i] += shift;
    }
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
fn no_standard_feature_reads_a_later_bar() {
    let bars = sample().slice(0..1_000);
    let set = FeatureSet::standard();
    let mut random = Random(1);
    for t in [0, 13, 14, 33, 167, 168, 169, 500, 731, 998] {
        assert_eq!(peeking(&set, &bars, t, &mut random), Vec::<String>::new(), "t = {t}");
    }
}

#[test]
fn every_standard_feature_reads_its_own_bar() {
    // The other side of the coin: the test above would pass for features that never change.
    let bars = sample().slice(0..1_000);
    let set = FeatureSet::standard();
    let mut moved = vec![false; set.len()];
    for t in [500, 501, 502] {
        let before = set.compute(&bars).unwrap();
        let after = set.compute(&other_future(&bars, t, &mut Random(t as u64))).unwrap();
        for (col, moved) in moved.iter_mut().enumerate() {
            *moved |= before.row(t + 1)[col] != after.row(t + 1)[col];
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
        warmup: 0,
        compute: |s| (0..s.len()).map(|t| (s.close[(t + 1).min(s.len() - 1)] / s.close[t]).ln()).collect(),
    };
    const FRAME_WIDE: FeatureSpec = FeatureSpec {
        name: "frame_wide",
        formula: "C[t] / mean of all C",
        window: 1,
        source: "planted",
        causal: "it is not",
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
        warmup: 0,
        compute: |s| {
            let high = |t: usize| &s.high[t / 24 * 24..(t / 24 * 24 + 24).min(s.len())];
            (0..s.len()).map(|t| high(t).iter().copied().fold(0.0, f64::max)).collect()
        },
    };
    let bars = sample().slice(0..300);
    let mut specs = FeatureSet::standard().specs().to_vec();
    specs.extend([PEEK, FRAME_WIDE, BACK_FILLED, COARSE_OPEN]);
    let set = FeatureSet::new(specs).unwrap();
    let found = peeking(&set, &bars, 200, &mut Random(3));
    assert_eq!(found, ["peek", "frame_wide", "back_filled", "coarse_open"]);
}
