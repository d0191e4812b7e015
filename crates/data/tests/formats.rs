//! The same bars in every format and packing, and bars that are written and read again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::io::Write as _;

use foxhunt_data::{
    BarStream, Bars, DataError, LoadOptions, SAMPLE_CSV, StampSide, inspect, load, load_bytes, load_stream,
    presets, sample, write_parquet,
};

#[allow(unreachable_pub, dead_code, clippy::panic, reason = "the fuzzer's own library")]
#[path = "../../../fuzz/check.rs"]
mod check;

const TEXT: &str = "time,open,high,low,close,volume\n\
                    2020-01-01T00:00:00Z,1.1,1.2,1.0,1.15,5000\n\
                    2020-01-01T01:00:00Z,1.15,1.25,1.1,1.2,6000\n\
                    2020-01-01T02:00:00Z,1.2,1.25,1.1,1.1,7000\n";

fn options() -> LoadOptions {
    LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() }
}

fn read(bytes: impl Into<Vec<u8>>) -> Result<Bars, DataError> {
    let bytes = bytes.into();
    let loaded = load_bytes("a.csv", bytes.clone(), &options());
    check::alike("a.csv", bytes, &options(), &loaded);
    loaded
}

fn assert_same(bars: &Bars, expected: &Bars, what: &str) {
    assert_eq!((&bars.open_ns, &bars.close_ns), (&expected.open_ns, &expected.close_ns), "{what}");
    assert_eq!((&bars.bid, &bars.ask), (&expected.bid, &expected.ask), "{what}");
    assert_eq!((&bars.volume_lots, bars.has_volume), (&expected.volume_lots, expected.has_volume), "{what}");
    assert_eq!(bars.instrument, expected.instrument, "{what}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn zip(files: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let how = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in files {
        archive.start_file(*name, how).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn packings_and_encodings() {
    let expected = read(TEXT).unwrap();
    let utf16 = |big: bool| -> Vec<u8> {
        let units = format!("\u{feff}{TEXT}").encode_utf16().collect::<Vec<_>>();
        units.iter().flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
    };
    let zstd = zstd::encode_all(TEXT.as_bytes(), 3).unwrap();
    let stored = zip::CompressionMethod::Stored;
    for (what, bytes) in [
        ("gzip", gzip(TEXT.as_bytes())),
        ("gzip of two members", [gzip(&TEXT.as_bytes()[..50]), gzip(&TEXT.as_bytes()[50..])].concat()),
        ("zstd", zstd.clone()),
        ("zip", zip(&[("a.csv", TEXT.as_bytes())], stored)),
        ("zip", zip(&[("a.csv", TEXT.as_bytes())], zip::CompressionMethod::Deflated)),
        ("zip of macOS", zip(&[("a.csv", TEXT.as_bytes()), ("__MACOSX/._a.csv", b"x")], stored)),
        ("gzip in zip", zip(&[("a.csv.gz", &gzip(TEXT.as_bytes()))], stored)),
        ("UTF-16 LE", utf16(false)),
        ("UTF-16 BE", utf16(true)),
        ("UTF-16 in gzip", gzip(&utf16(false))),
    ] {
        let bars = read(bytes.clone()).unwrap();
        assert_same(&bars, &expected, what);
        assert!(
            what.split(' ')
                .filter(|w| matches!(*w, "gzip" | "zstd" | "zip" | "UTF-16"))
                .all(|w| bars.source.format.contains(w))
        );
        // As a stream: the same bars, and the hash of the same stored bytes.
        let streamed = load_stream("a.csv", std::io::Cursor::new(bytes), &options()).unwrap();
        assert_same(&streamed, &expected, what);
        assert_eq!(streamed.source.sha256, bars.source.sha256, "{what}");
    }
    let refusals: [(&str, Vec<u8>, &str); 7] = [
        ("half a gzip", gzip(TEXT.as_bytes())[..40].to_vec(), "gzip stream is damaged"),
        ("half a zstd", zstd[..30].to_vec(), "zstd stream is damaged"),
        ("half a zip", zip(&[("a.csv", TEXT.as_bytes())], stored)[..60].to_vec(), "damaged zip"),
        ("two files", zip(&[("a", b"1"), ("b", b"2")], stored), "an archive of 2 files, such as a and b"),
        ("no file", zip(&[], stored), "is not text"),
        ("a sheet", zip(&[("[Content_Types].xml", b"<"), ("xl/x.xml", b"<")], stored), "spreadsheet"),
        ("five times", (0..5).fold(TEXT.as_bytes().to_vec(), |b, _| gzip(&b)), "packed more than 3 times"),
    ];
    for (what, bytes, words) in refusals {
        let message = read(bytes).unwrap_err().to_string();
        assert!(message.starts_with("a.csv") && message.contains(words), "{what}: {message}");
    }
    // One changed byte inside an archive does not pass.
    let mut changed = zip(&[("a.csv", TEXT.as_bytes())], stored);
    let at = changed.windows(4).position(|w| w == b"1.15").unwrap();
    changed[at + 3] = b'6';
    assert!(read(changed).unwrap_err().to_string().contains("checksum does not hold"));
}

#[test]
fn json_in_its_shapes() {
    let expected = read(TEXT).unwrap();
    let row = |stamp: &str, i: usize| {
        let numbers = [
            ["1.1", "1.2", "1.0", "1.15", "5000"],
            ["1.15", "1.25", "1.1", "1.2", "6000"],
            ["1.2", "1.25", "1.1", "1.1", "7000"],
        ];
        let [o, h, l, c, v] = numbers[i];
        (
            format!("[{stamp},{o},\"{h}\",{l},{c},{v}]"),
            format!("{{\"t\":{stamp},\"o\":{o},\"h\":{h},\"l\":{l},\"c\":\"{c}\",\"v\":{v},\"n\":null}}"),
            format!(
                "\"1. open\":\"{o}\",\"2. high\":\"{h}\",\"3. low\":\"{l}\",\"4. close\":\"{c}\",\"5. volume\":\"{v}\""
            ),
        )
    };
    let stamps = ["1577836800000", "1577840400000", "1577844000000"];
    let arrays = |open: &str, close: &str| {
        let rows: Vec<String> = (0..3).map(|i| row(stamps[i], i).0).collect();
        format!("{open}{}{close}", rows.join(",\n"))
    };
    let objects = |open: &str, between: &str, close: &str| {
        let rows: Vec<String> = (0..3).map(|i| row(stamps[i], i).1).collect();
        format!("{open}{}{close}", rows.join(between))
    };
    let dates = ["2020-01-01 02:00:00", "2020-01-01 01:00:00", "2020-01-01 00:00:00"]; // newest first, as the site has it
    let keyed: Vec<String> = (0..3).map(|i| format!("\"{}\":{{{}}}", dates[i], row("", 2 - i).2)).collect();
    for (what, text) in [
        ("rows are arrays", arrays("[", "]")),
        ("rows are arrays", arrays("{\"ok\":true,\"meta\":{\"symbol\":\"x\",\"n\":3},\"ohlcv\":[", "]}")),
        ("rows are objects", objects("[", ",", "]")),
        ("rows are objects", objects("{\"results\": [", ", ", "],\"status\":\"OK\"}")),
        ("rows are objects", objects("", "\n", "\n")),
        ("rows are objects", format!("{{\"Meta Data\":{{\"1. Info\":\"x\",\"2. Symbol\":\"y\"}},\"Time Series (60min)\":{{{}}}}}", keyed.join(","))),
        (
            "columns in arrays",
            "{\"s\":\"ok\",\"t\":[1577836800,1577840400,1577844000],\"o\":[1.1,1.15,1.2],\"h\":[1.2,1.25,1.25],\
             \"l\":[1.0,1.1,1.1],\"c\":[1.15,1.2,1.1],\"v\":[5000,6000,7000],\"x\":[1]}"
                .into(),
        ),
    ] {
        let bars = read(text.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_same(&bars, &expected, &text);
        assert!(bars.source.format.contains(what), "{text}");
    }
    for (text, words) in [
        ("[[1577836800000,1,2", "line 1: is cut short"),
        (
            "[\n[1577836800000,1,2,1,1],\n[1577836860000,1,2]]",
            "line 3: has a row of 3 values, and the first has 5",
        ),
        ("[[1577836800000,1,2,1,1],{\"a\":1,\"b\":2}]", "arrays and rows that are objects"),
        (
            "[{\"t\":1577836800000,\"o\":1,\"h\":1,\"l\":1,\"c\":1},{\"a\":1,\"b\":2}]",
            "other names than the first",
        ),
        ("{\"a\":1}]", "closes what is not open"),
        ("[[1577836800000,1,2,1,x]]", "is not JSON: x"),
        ("{\"error\":\"no such symbol\"}", "has no rows of bars"),
    ] {
        let message = read(text).unwrap_err().to_string();
        assert!(message.contains(words), "{text}: {message}");
    }
    let deep = "[".repeat(100);
    assert!(read(deep).unwrap_err().to_string().contains("nested too deep"));
}

#[test]
fn parquet_gives_back_the_bars_that_were_written() {
    let quotes = "time,bid_open,bid_high,bid_low,bid_close,ask_open,ask_high,ask_low,ask_close\n\
                  2020-01-01 00:00,1.10001,1.2,1.0,1.15,1.10003,1.20001,1.0,1.15\n\
                  2020-01-01 00:01,1.15,1.25,1.1,1.2,1.15,1.25,1.1,1.2\n\
                  2020-01-01 05:00,1.15,1.25,1.1,1.2,1.15,1.25,1.1,1.2\n";
    let closes = LoadOptions { stamp_side: Some(StampSide::Close), ..options() };
    let cases = [
        sample(),
        read(TEXT).unwrap(),
        read(quotes).unwrap(),
        load_bytes("a.csv", quotes.into(), &closes).unwrap(),
        load_bytes(
            "btc.csv",
            TEXT.replace("5000", "0.12345678").replace(",1", ",100").into(),
            &LoadOptions { instrument: Some(presets::xbtusd()), ..LoadOptions::default() },
        )
        .unwrap(),
    ];
    for bars in cases {
        let bytes = write_parquet("out", &bars, Vec::new()).unwrap();
        // No option says what the file is: it says so itself.
        let again = load_bytes("anything", bytes.clone(), &LoadOptions::default()).unwrap();
        assert_same(&again, &bars, &bars.source.path);
        assert_eq!(again.source.stamp_side, bars.source.stamp_side);
        assert_eq!(again.source.bar_seconds, bars.source.bar_seconds);
        assert_eq!(
            write_parquet("out", &bars, Vec::new()).unwrap(),
            bytes,
            "the same bars give the same bytes"
        );
        assert!(inspect(&again).to_string().contains("Parquet written by foxhunt"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bars.parquet");
        std::fs::write(&path, &bytes).unwrap();
        assert_same(&load(&path, &LoadOptions::default()).unwrap(), &bars, "from disk");
        assert_same(&load_bytes("x", gzip(&bytes), &LoadOptions::default()).unwrap(), &bars, "in gzip");
    }
    // A volume that a double cannot hold is not written as another.
    let mut bars = sample();
    bars.volume_lots[3] = i64::MAX / 2;
    let message = write_parquet("out", &bars, Vec::new()).unwrap_err().to_string();
    assert!(message.starts_with("out: cannot hold volume of bar 3"), "{message}");
}

/// What convert made of the sample when it still held all bars. Releases of the parquet and zstd crates may write other bytes for the same bars; then this
/// hash is to be set anew.
#[test]
fn the_sample_is_converted_to_the_same_bytes() {
    let bars = load_bytes("sample.csv", SAMPLE_CSV.to_vec(), &options()).unwrap();
    let written = write_parquet("x", &bars, Vec::new()).unwrap();
    let hash = <sha2::Sha256 as sha2::Digest>::digest(&written);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "4050c58858af4de5d0b2fbc43fa2bcaad02ae89a86c4d20594c44fcbcb5f4b0f");
}

/// Columns beside the bars are the same from text, JSON and Parquet, and keep their bits when they are written.
#[test]
fn columns_beside_the_bars_pass_through_every_format() {
    let extra = |names: &[&str]| LoadOptions {
        extra: names.iter().map(|n| (*n).to_owned()).collect(),
        ..LoadOptions::default()
    };
    let options = LoadOptions { extra: extra(&["mood", "Volume USD"]).extra, ..options() };
    let text = "time,open,high,low,close,volume,mood,Volume USD\n\
                1577836800,1.1,1.2,1.0,1.15,5000,,0.1\n\
                1577840400,1.15,1.25,1.1,1.2,6000,-0.3,1e-7\n\
                1577844000,1.2,1.25,1.1,1.1,7000,,3\n";
    let bars = load_bytes("a.csv", text.into(), &options).unwrap();
    let rows: Vec<String> = [
        ("1577836800", "1.1,1.2,1.0,1.15,5000", "null", "0.1"),
        ("1577840400", "1.15,1.25,1.1,1.2,6000", "\"-0.3\"", "1e-7"),
        ("1577844000", "1.2,1.25,1.1,1.1,7000", "null", "3"),
    ]
    .iter()
    .map(|(time, bar, mood, usd)| {
        let names = ["open", "high", "low", "close", "volume"];
        let bar: String = names.iter().zip(bar.split(',')).map(|(n, v)| format!("\"{n}\":{v},")).collect();
        format!("{{\"time\":{time},{bar}\"mood\":{mood},\"Volume USD\":{usd}}}")
    })
    .collect();
    let json = load_bytes("a.json", format!("[{}]", rows.join(",")).into(), &options).unwrap();
    assert_eq!(json.extra, bars.extra);
    let written = write_parquet("out", &bars, Vec::new()).unwrap();
    let again = load_bytes("x", written.clone(), &extra(&["mood", "Volume USD"])).unwrap();
    assert_same(&again, &bars, "Parquet");
    assert_eq!(again.extra, bars.extra);
    assert_eq!(load_bytes("x", written, &LoadOptions::default()).unwrap().extra, []);
    // Read as volume, for there is no other; written as what it was named as.
    let no_volume = LoadOptions { columns: "volume=none".parse().unwrap(), ..options };
    let bars = load_bytes("a.csv", text.replace("volume,", "traded,").into(), &no_volume).unwrap();
    let written = write_parquet("out", &bars, Vec::new()).unwrap();
    let again = load_bytes("x", written, &extra(&["mood", "Volume USD"])).unwrap();
    assert_eq!((again.has_volume, &again.extra), (false, &bars.extra));
    // Files one after the other: the last value of one holds into the next.
    let later = load_bytes("b.csv", text.replace("15778", "15779").into(), &no_volume).unwrap();
    let first = bars.slice(0..2).append(later).unwrap().extra.swap_remove(0);
    assert_eq!((first.first, first.values), (1, vec![0.0, -0.3, -0.3, -0.3, -0.3]));
    let plain = sample().slice(0..3);
    let mut other = bars.clone();
    (other.instrument, other.has_volume) = (plain.instrument.clone(), plain.has_volume);
    assert!(
        plain
            .append(other)
            .unwrap_err()
            .to_string()
            .contains("read both with the same --feature-columns (features.columns)")
    );
    let mut bars = bars;
    bars.extra[0].name = "time".into();
    assert!(
        write_parquet("out", &bars, Vec::new()).unwrap_err().to_string().contains("two columns \"time\"")
    );
}

#[test]
fn an_extra_column_holds_from_one_file_into_the_next() {
    let instrument = Some(presets::eurusd());
    let options = LoadOptions { instrument, extra: vec!["mood".into()], ..LoadOptions::default() };
    let file = |from: i64, moods: [&str; 3]| -> Vec<u8> {
        let row = |(i, mood): (i64, &str)| format!("{},1.1,1.2,1.0,1.1,5,{mood}\n", from + 60 * i);
        let rows: String = (0..).zip(moods).map(row).collect();
        format!("time,open,high,low,close,volume,mood\n{rows}").into()
    };
    let open = |bytes| BarStream::from_bytes("a.csv", bytes, &options).unwrap();
    let (one, two) = (file(1_577_836_800, ["", "0.5", ""]), file(1_577_923_200, ["", "", "-2"]));
    let mut both = open(one).append(open(two)).unwrap();
    let mut moods = Vec::new();
    both.each(|bar| {
        moods.push(bar.extra[0]);
        Ok(())
    })
    .unwrap();
    assert!(moods[0].is_nan());
    assert_eq!(moods[1..], [0.5, 0.5, 0.5, 0.5, -2.0]);
}
