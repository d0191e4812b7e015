//! No bytes make the loader panic, and whatever it accepts holds what [`Bars`](foxhunt_data::Bars) promises.

use foxhunt_data::{Instrument, LoadOptions, SAMPLE_CSV, inspect, load_bytes, presets};

/// A small generator (SplitMix64), so that a failure replays: the seed is the number of the case. Some cases stay whole.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

const SEEDS: [&[u8]; 5] = [
    b"1381093200,122.0,122.0,122.0,122.0,0.1,1\n1381176000,123.61,123.61,123.61,123.61,0.1,1\n",
    b"timestamp,bid_open,bid_high,bid_low,bid_close,ask_open,ask_high,ask_low,ask_close\n\
      2007-01-01 21:00:00,1.31927,1.31955,1.3187,1.31935,1.32027,1.32055,1.3197,1.32035\n\
      2007-01-01 22:00:00,1.31935,1.3202,1.31925,1.32,1.32035,1.3212,1.32025,1.321\n",
    b"20110301 090100;133.9;134.01;133.9;133.98;3778\n20110301 090300;134;134;134;134;400\n",
    b"<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n\
      2007.02.12\t11:36:00\t0.90510\t0.90510\t0.90500\t0.90500\t4\t0\t100\n\
      2007.02.12\t11:37:00\t0.90510\t0.90510\t0.90500\t0.90500\t6\t0\t100\n",
    b"Date,Symbol,O,H,L,C,V\r\n11/5/2019 9:30,A,3080.8,3081.47,3080.3,3080.49,0\r\n11/13/2019 1:30,A,1,2,1,2,1e9\r\n",
];

/// Pieces that parsers trip over.
const PIECES: [&[u8]; 20] = [
    b"",
    b",",
    b"\n",
    b"\r",
    b"\"",
    b";",
    b"\t",
    b"-",
    b"e",
    b"1e400",
    b"1e-27",
    b"NaN",
    b"\xff",
    b"\0",
    b"\xef\xbb\xbf",
    b"99999999999999999999999999999999",
    b"9223372036854775807",
    b"2262-04-11 23:47:16",
    b"1677-01-01",
    b"0.00000001",
];

fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..random.below(3) {
        let at = random.below(out.len() + 1);
        let end = (at + random.below(8)).min(out.len());
        match random.below(4) {
            0 if at < out.len() => out[at] = random.next() as u8,
            1 => drop(out.splice(at..end, PIECES[random.below(PIECES.len())].iter().copied())),
            2 => drop(out.splice(at..at, out[at..end].to_vec())),
            _ => drop(out.drain(at..end)),
        }
    }
    out
}

#[test]
fn mutated_files_never_panic_and_never_break_a_promise() {
    let head = &SAMPLE_CSV[..SAMPLE_CSV.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(5).unwrap().0];
    let seeds: Vec<&[u8]> = SEEDS.into_iter().chain([head]).collect();
    let instruments = [presets::eurusd(), presets::xbtusd(), presets::us_equity("X")];
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..20_000_u64 {
        let random = &mut Random(case);
        let bytes = mutate(seeds[random.below(seeds.len())], random);
        let instrument = Some(instruments[random.below(instruments.len())].clone());
        let options = LoadOptions { instrument, ..LoadOptions::default() };
        match load_bytes("mutated", bytes, &options) {
            Err(error) => {
                assert!(error.to_string().starts_with("mutated"), "case {case}: {error}");
                refused += 1;
            }
            Ok(bars) => {
                accepted += 1;
                for i in 0..bars.len() {
                    assert!(bars.open_ns[i] < bars.close_ns[i], "case {case}");
                    assert!(i == 0 || bars.close_ns[i - 1] <= bars.open_ns[i], "case {case}");
                    for side in [Some(&bars.bid), bars.ask.as_ref()].into_iter().flatten() {
                        let (open, close) = (side.open[i], side.close[i]);
                        assert!(side.low[i] > 0 && side.low[i] <= open.min(close), "case {case}");
                        assert!(side.high[i] >= open.max(close), "case {case}");
                    }
                    assert!(bars.volume_lots[i] >= 0, "case {case}");
                }
                assert!(!inspect(&bars).to_string().is_empty());
            }
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 1_000 && refused > 1_000, "{accepted} accepted, {refused} refused");
}

#[test]
fn mutated_instruments_never_panic() {
    let text = presets::eurusd().to_toml().unwrap();
    let mut valid = 0;
    for case in 0..5_000_u64 {
        let bytes = mutate(text.as_bytes(), &mut Random(case));
        if let Ok(instrument) = Instrument::from_toml(&String::from_utf8_lossy(&bytes)) {
            instrument.validate().unwrap();
            valid += 1;
        }
    }
    assert!(valid > 100, "{valid}");
}
