//! No bytes make the loader panic, and whatever it accepts holds what [`Bars`](foxhunt_data::Bars) promises.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::io::Write as _;

use foxhunt_data::{
    DataError, DateOrder, DecimalMark, Instrument, LoadOptions, RangePolicy, SAMPLE_CSV, inspect, load_bytes,
    plot, presets, write_parquet,
};

#[allow(unreachable_pub, dead_code, clippy::panic, reason = "the fuzzer's own library")]
#[path = "../../../fuzz/check.rs"]
mod check;

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

const SEEDS: [&[u8]; 13] = [
    b"1381093200,122.0,122.0,122.0,122.0,0.1,1\n1381176000,123.61,123.61,123.61,123.61,0.1,1\n",
    b"timestamp,bid_open,bid_high,bid_low,bid_close,ask_open,ask_high,ask_low,ask_close\n\
      2007-01-01 21:00:00,1.31927,1.31955,1.3187,1.31935,1.32027,1.32055,1.3197,1.32035\n\
      2007-01-01 22:00:00,1.31935,1.3202,1.31925,1.32,1.32035,1.3212,1.32025,1.321\n",
    b"20110301 090100;133.9;134.01;133.9;133.98;3778\n20110301 090300;134;134;134;134;400\n",
    b"<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n\
      2007.02.12\t11:36:00\t0.90510\t0.90510\t0.90500\t0.90500\t4\t0\t100\n\
      2007.02.12\t11:37:00\t0.90510\t0.90510\t0.90500\t0.90500\t6\t0\t100\n",
    b"Date,Symbol,O,H,L,C,V\r\n11/5/2019 9:30,A,3080.8,3081.47,3080.3,3080.49,0\r\n11/13/2019 1:30,A,1,2,1,2,1e9\r\n",
    b"https://example.com\nDate;Price;Open;High;Low;Vol.\n3-Jan-22;1.085,5;1.085,5;1.090,0;1.080,0;5,5K\n\
      4-Jan-22;1.085,5;1.085,5;1.090,0;1.080,0;-\nend\n",
    b"symbol,unix,date,open,high,low,close,close time\nA,1577836800,2020-01-01,1.1,1.2,1.0,1.1,1577836860\n\
      B,1577836800,2020-01-01,1.1,1.2,1.0,1.1,1577836860\nA,1577836860,2020-01-01,1.1,1.2,1.0,1.1,1577836920\n",
    b"x\nEXCHANGE%3DA\nINTERVAL=60\nCOLUMNS=DATE,CLOSE,HIGH,LOW,OPEN,VOLUME\nDATA=\na1460727000,55.2,55.3,55.2,55.3,33\n\
      1,55.2,55.4,55.1,55.2,25\nTIMEZONE_OFFSET=-240\n3,55.2,55.4,55.1,55.2,25\n",
    b"{\"meta\":{\"a\":[1,2]},\"ohlcv\":[[1577836800000,1.1,1.2,1.0,1.1,5],[1577836860000,1.1,1.2,1.0,\"1.1\",null]]}",
    b"{\"t\":1577836800,\"o\":1,\"h\":2,\"l\":1,\"c\":2,\"v\":1}\n{\"t\":1577836860,\"o\":1,\"h\":2,\"l\":1,\"c\":2,\"v\":1}\n",
    b"{\"t\":[1577836800,1577836860],\"o\":[1,1],\"h\":[2,2],\"l\":[1,1],\"c\":[1,2]}",
    b"{\"Time Series\":{\"2020-01-02\":{\"1. open\":\"1\",\"2. high\":\"2\",\"3. low\":\"1\",\"4. close\":\"1\"},\
      \"2020-01-01\":{\"1. open\":\"1\",\"2. high\":\"2\",\"3. low\":\"1\",\"4. close\":\"1\"}}}",
    b"01/02/2020 9:30 AM|1|1|1|1\n01/02/2020 9:31 PM|1|1|1|1\n01/13/2020 12:31 AM|1|1|1|1\n",
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

/// What binary formats make of the same bars: packed, Parquet, and DBN as its crate writes it.
fn binary_seeds() -> Vec<Vec<u8>> {
    let options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    let bars = load_bytes("seed", SEEDS[1].to_vec(), &options).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(SEEDS[0]).unwrap();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("20140505_quote.csv", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"0,1,1,1,1,0,2,2,2,2,0\n60000,1,1,1,1,0,2,2,2,2,0\n").unwrap();
    vec![
        write_parquet("seed", &bars, Vec::new()).unwrap(),
        gzip.finish().unwrap(),
        zstd::encode_all(SEEDS[0], 1).unwrap(),
        zip.finish().unwrap().into_inner(),
        dbn_bars(),
        [&b"\xff\xfe"[..], &SEEDS[2].iter().flat_map(|b| [*b, 0]).collect::<Vec<u8>>()].concat(),
    ]
}

/// Two bars of one minute in DBN.
fn dbn_bars() -> Vec<u8> {
    use dbn::{
        OhlcvMsg, RecordHeader, SType, Schema,
        encode::{EncodeRecord, dbn::Encoder},
        enums::rtype,
    };
    let metadata = dbn::Metadata::builder()
        .dataset("TEST".to_owned())
        .schema(Some(Schema::Ohlcv1M))
        .start(1_577_836_800_000_000_000)
        .stype_in(Some(SType::InstrumentId))
        .stype_out(SType::InstrumentId)
        .build();
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, &metadata).unwrap();
    for i in 0..2 {
        let hd = RecordHeader::new::<OhlcvMsg>(
            rtype::OHLCV_1M,
            1,
            7,
            1_577_836_800_000_000_000 + i * 60_000_000_000,
        );
        let price = 1_100_000_000;
        let bar = OhlcvMsg { hd, open: price, high: price, low: price, close: price, volume: 5_000 };
        encoder.encode_record(&bar).unwrap();
    }
    bytes
}

#[test]
fn a_record_that_is_shorter_than_its_kind_is_refused() {
    let mut bytes = dbn_bars();
    // A record's length in words of four bytes is its first byte.
    let second = bytes.len() - size_of::<dbn::OhlcvMsg>();
    assert_eq!(bytes[second], 14);
    bytes[second] = 10;
    let options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    let message = load_bytes("a.dbn", bytes, &options).unwrap_err().to_string();
    assert_eq!(message, "a.dbn, line 2: is a record that is cut short; fetch the file again");
}

/// Options that change how a file is read.
fn options(random: &mut Random) -> LoadOptions {
    let maps = ["time=#1,close=#2", "volume=none", "open=o,symbol=none", "time=date,bid_open=#2,ask_open=#3"];
    let mut options = LoadOptions::default();
    match random.below(9) {
        0 => options.columns = maps[random.below(maps.len())].parse().unwrap(),
        1 => options.delimiter = Some(b" ,;|\t"[random.below(5)]),
        2 => options.decimal = Some([DecimalMark::Point, DecimalMark::Comma][random.below(2)]),
        3 => options.date_order = Some([DateOrder::DayFirst, DateOrder::YearFirst][random.below(2)]),
        4 => options.time_zone = Some("America/New_York".into()),
        5 => options.range_policy = RangePolicy::Widen,
        6 => options.symbol = Some("A".into()),
        7 => options.extra = vec![["#7", "x", "volume", "trades"][random.below(4)].into()],
        _ => {}
    }
    options
}

/// Writes the seeds of this file as the fuzzer's, each under the target whose start it has: `cargo test -p foxhunt-data --test
/// mutations -- --ignored`.
#[test]
#[ignore = "writes files of the repository"]
fn seeds_for_the_fuzzer() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let write = |target: &str, n: usize, bytes: &[u8]| {
        std::fs::create_dir_all(corpus.join(target)).unwrap();
        std::fs::write(corpus.join(target).join(format!("seed{n:02}")), bytes).unwrap();
    };
    let binary = binary_seeds();
    for (n, seed) in SEEDS.into_iter().chain(binary.iter().map(Vec::as_slice)).enumerate() {
        let starts: [(&[u8], &str, &[u8]); 8] = [
            (b"\x1f\x8b\x08", "packed", b"\0"),
            (b"\x28\xb5\x2f\xfd", "packed", b"\x01"),
            (b"PK\x03\x04", "packed", b"\x02"),
            (b"\xff\xfe", "packed", b"\x03"),
            (b"PAR1", "parquet", b""),
            (b"DBN\x01", "dbn", b"\0"),
            (b"DBN\x02", "dbn", b"\x01"),
            (b"DBN\x03", "dbn", b"\x02"),
        ];
        match starts.iter().find(|(start, ..)| seed.starts_with(start)) {
            Some((start, target, choice)) => write(target, n, &[choice, &seed[start.len()..]].concat()),
            None => write("text", n, seed),
        }
    }
    let array = br#"{"t":1577836800,"o":1,"h":2,"l":1,"c":2},{"t":1577836860,"o":1,"h":2,"l":1,"c":2}]"#;
    write("json", 0, array);
    write("json", 1, b"[1577836800000,1.1,1.2,1.0,1.1,5],[1577836860000,1.1,1.2,1.0,\"1.1\",null]]");
    write("instrument", 0, presets::eurusd().to_toml().unwrap().as_bytes());
    write("instrument", 1, presets::us_equity("X").to_toml().unwrap().as_bytes());
    write("positions", 0, b"stamp,exposure\n02.01.2017 00:00:00.000,0.5\n02.01.2017 01:00:00.000,-1\n");
}

#[test]
fn mutated_files_never_panic_and_never_break_a_promise() {
    let head = &SAMPLE_CSV[..SAMPLE_CSV.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(5).unwrap().0];
    let binary = binary_seeds();
    let seeds: Vec<&[u8]> = SEEDS.into_iter().chain([head]).chain(binary.iter().map(Vec::as_slice)).collect();
    let instruments = [presets::eurusd(), presets::xbtusd(), presets::us_equity("X")];
    for seed in &seeds {
        // Unmutated, each is read as one of the three, but for the one that holds several symbols.
        let as_one = |instrument: &Instrument| {
            let options = LoadOptions { instrument: Some(instrument.clone()), ..LoadOptions::default() };
            load_bytes("whole_20140505", seed.to_vec(), &options)
        };
        let read: Vec<_> = instruments.iter().map(as_one).collect();
        let several = |e: &DataError| e.to_string().contains("several symbols");
        assert!(
            read.iter().any(|r| r.as_ref().map_or_else(several, |b| !b.is_empty())),
            "{}: {:?}",
            String::from_utf8_lossy(seed),
            read.iter().filter_map(|r| r.as_ref().err()).map(ToString::to_string).collect::<Vec<_>>()
        );
    }
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..40_000_u64 {
        let random = &mut Random(case);
        let bytes = mutate(seeds[random.below(seeds.len())], random);
        let instrument = Some(instruments[random.below(instruments.len())].clone());
        let options = LoadOptions { instrument, ..options(random) };
        let loaded = load_bytes("mutated", bytes.clone(), &options);
        if case % 8 == 0 {
            check::alike("mutated", bytes, &options, &loaded);
        }
        match loaded {
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
                let look = inspect(&bars);
                assert!(!look.to_string().is_empty());
                if case % 16 == 0 {
                    assert!(plot(&bars, &look).ends_with("</html>"), "case {case}");
                }
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
