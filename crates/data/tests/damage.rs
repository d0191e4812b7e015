//! Damaged Parquet is refused, and asks for no memory that the file could not fill.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod counting;

use std::sync::Arc;

use counting::peak_of;
use foxhunt_data::{LoadOptions, load_bytes, presets, sample, write_parquet};
use parquet::{
    basic::{Compression, Encoding, ZstdLevel},
    data_type::{ByteArray, ByteArrayType, DoubleType},
    file::{
        properties::{WriterProperties, WriterVersion},
        writer::SerializedFileWriter,
    },
    schema::parser::parse_message_type,
};

/// What a small file may ask for, whole or damaged: its pages unpacked, each at most 2^15 times as large, and what the
/// reading of any file takes.
const MOST_BYTES: usize = 24 << 20;

fn options() -> LoadOptions {
    LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() }
}

/// Reads bytes; gives the refusal, or the number of bars in words.
fn read(bytes: Vec<u8>, what: &str) -> String {
    let (read, peak) = peak_of(|| load_bytes("a.parquet", bytes, &options()));
    assert!(peak < MOST_BYTES, "{what}: {peak} bytes held");
    match read {
        Ok(bars) => format!("{} bars", bars.len()),
        Err(e) => {
            assert!(e.to_string().starts_with("a.parquet"), "{what}: {e}");
            e.to_string()
        }
    }
}

#[test]
fn no_damaged_byte_asks_for_more_than_the_file_can_fill() {
    let whole = write_parquet("x", &sample().slice(0..40), Vec::new()).unwrap();
    assert_eq!(read(whole.clone(), "whole"), "40 bars");
    let mut refusals = Vec::new();
    for at in 0..whole.len() {
        for change in [0x02, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            refusals.extend(
                Some(read(bytes, &format!("byte {at} ^ {change}"))).filter(|r| !r.ends_with(" bars")),
            );
        }
    }
    assert!(refusals.len() > whole.len() / 2, "{} of {} were refused", refusals.len(), 2 * whole.len());
    for words in ["bytes is in a place of", "values, and can have", "points outside"] {
        assert!(refusals.iter().any(|r| r.contains(words)), "none of the refusals says {words:?}");
    }
}

/// Parquet guards none of its values: whatever bit is turned, the same bars are read, or none.
#[test]
fn a_damaged_file_of_bars_is_never_read_as_other_bars() {
    let bars = sample().slice(0..40);
    let whole = write_parquet("x", &bars, Vec::new()).unwrap();
    let same = |read: &foxhunt_data::Bars| {
        let all = |b: &foxhunt_data::Bars| (0..b.len()).map(|i| b.bar(i)).collect::<Vec<_>>();
        read.instrument == bars.instrument && all(read) == all(&bars)
    };
    assert!(same(&load_bytes("x", whole.clone(), &LoadOptions::default()).unwrap()));
    let (mut told, mut kept) = (0, 0);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        match load_bytes("x", bytes, &LoadOptions::default()) {
            Ok(read) => {
                kept += 1;
                assert!(same(&read), "other bars with another byte {at}");
            }
            Err(e) => told += usize::from(e.to_string().contains("are not what foxhunt wrote")),
        }
    }
    assert!(told > 100 && kept > 0, "{told} {kept}");
}

#[test]
fn a_page_that_asks_for_a_gigabyte_is_refused() {
    let mut bytes = write_parquet("x", &sample().slice(0..40), Vec::new()).unwrap();
    // After the magic: the type of the first page, and its size when it is unpacked, as zigzag integers.
    assert_eq!((&bytes[..4], bytes[4], bytes[6]), (&b"PAR1"[..], 0x15, 0x15));
    let end = 8 + bytes[7..].iter().position(|byte| *byte < 0x80).unwrap();
    bytes.splice(7..end, [0x80, 0x80, 0x80, 0x80, 0x08]);
    let message = read(bytes, "grown");
    assert!(
        message.starts_with("a.parquet: cannot be read as Parquet (row 1 is damaged: a page of"),
        "{message}"
    );
    assert!(message.contains("bytes would unpack to 1073741824, and can to"), "{message}");
    assert!(message.contains("at most); fetch or write the file again"), "{message}");
}

/// What the fuzzer found: a file of 2,634 bytes that took five gigabytes.
#[test]
fn a_dictionary_that_asks_for_gigabytes_is_refused() {
    let found = include_bytes!("../../../fuzz/corpus/parquet/dictionary_of_gigabytes");
    let message = read([&b"PAR1"[..], found].concat(), "found");
    assert!(message.contains("cannot be read as Parquet (row 1 is damaged: a page of"), "{message}");
    assert!(message.contains("); fetch or write the file again"), "{message}");
}

/// As another program names its table: stamps as text, prices as doubles, in the encodings that count lengths of texts in the page.
fn texts(encoding: Encoding, version: WriterVersion, nullable: bool) -> Vec<u8> {
    let text = if nullable { "optional" } else { "required" };
    let prices: String = ["open", "high", "low", "close"].map(|n| format!("required double {n};")).concat();
    let schema = format!("message spark_schema {{ {text} binary time (UTF8); {prices} }}");
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_dictionary_enabled(false)
        .set_column_encoding("time".into(), encoding)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let stamps: Vec<ByteArray> =
        (0..300).map(|i| format!("2020-01-{:02}T{:02}:00:00Z", 1 + i / 24, i % 24).as_str().into()).collect();
    let mut group = writer.next_row_group().unwrap();
    let mut open = group.next_column().unwrap().unwrap();
    let levels = [1; 300];
    open.typed::<ByteArrayType>().write_batch(&stamps, nullable.then_some(&levels), None).unwrap();
    open.close().unwrap();
    while let Some(mut open) = group.next_column().unwrap() {
        open.typed::<DoubleType>().write_batch(&[1.1; 300], None, None).unwrap();
        open.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn texts_in_every_encoding_are_read_and_their_damage_refused() {
    for encoding in [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for nullable in [false, true] {
                let whole = texts(encoding, version, nullable);
                let what = format!("{encoding:?} {version:?} {nullable}");
                assert_eq!(read(whole.clone(), &what), "300 bars", "{what}");
                for at in 0..whole.len().min(400) {
                    let mut bytes = whole.clone();
                    bytes[at] ^= 0x80;
                    read(bytes, &format!("{what}, byte {at}"));
                }
            }
        }
    }
}

/// A number in Thrift's compact protocol.
fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A Parquet file without rows whose schema has these elements: their names and how many they are the groups of.
fn with_schema(elements: impl IntoIterator<Item = (String, u64)>) -> Vec<u8> {
    let mut all = Vec::new();
    let mut count = 0;
    for (name, children) in elements {
        count += 1;
        // A column: a double that must be there. A group has no type.
        all.extend(if children == 0 {
            [0x15, 0x0a, 0x25, 0x00, 0x18].to_vec()
        } else {
            [0x35, 0x00, 0x18].to_vec()
        });
        all.extend(number(name.len() as u64));
        all.extend(name.bytes());
        if children > 0 {
            all.push(0x15);
            all.extend(number(2 * children));
        }
        all.push(0x00);
    }
    // Version 1, the schema, no rows, no groups of rows.
    let mut directory = vec![0x15, 0x02, 0x19, 0xfc];
    directory.extend(number(count));
    directory.extend(all);
    directory.extend([0x16, 0x00, 0x19, 0x0c, 0x00]);
    let length = u32::try_from(directory.len()).unwrap().to_le_bytes();
    [&b"PAR1"[..], &directory, &length, b"PAR1"].concat()
}

fn groups(levels: usize, name: &str) -> impl Iterator<Item = (String, u64)> {
    std::iter::repeat_n((name.to_owned(), 1), levels)
}

fn columns(count: usize) -> impl Iterator<Item = (String, u64)> {
    (0..count).map(|i| (format!("c{i}"), 0))
}

/// The crate goes down a schema by calls, and holds the names around each column.
#[test]
fn schemas_that_nest_deep_or_grow_by_their_names_are_refused() {
    let root = |children: u64| [("root".to_owned(), children)].into_iter();
    let bars = ["time", "open", "high", "low", "close"].map(|name| (name.to_owned(), 0));
    // What is in bounds is read: columns beside the bars, some of them deep in groups.
    let deep = root(6).chain(bars.clone()).chain(groups(30, "g")).chain(columns(1));
    let empty = "a.parquet: has no rows; give a file with bars";
    assert_eq!(read(with_schema(deep), "31 levels"), empty);
    let wide = root(10_005).chain(bars.clone()).chain(columns(10_000));
    assert_eq!(read(with_schema(wide), "wide"), empty);
    let refused = |bytes: Vec<u8>, what: &str, words: &str| {
        let message = read(bytes, what);
        assert!(message.starts_with("a.parquet: cannot be read as Parquet ("), "{what}: {message}");
        assert!(message.contains(words), "{what}: {message}");
    };
    for levels in [32, 1_000, 200_000] {
        let file = with_schema(root(1).chain(groups(levels, "")).chain(columns(1)));
        refused(file, &format!("{levels} levels"), "its columns are nested deeper than 32 levels");
    }
    let most = u64::from(i32::MAX.unsigned_abs());
    refused(
        with_schema(root(most).chain(columns(1))),
        "a group of billions",
        "groups of more columns than there are",
    );
    let siblings = root(3).chain([("g".to_owned(), 3)]).chain(columns(3));
    refused(with_schema(siblings), "groups that share columns", "groups of more columns than there are");
    refused(with_schema(columns(2)), "two roots", "several roots");
    // A kilobyte of name around each of 30,000 columns is 30 MB.
    let named = root(1).chain([("x".repeat(1_000), 30_000)]).chain(columns(30_000));
    refused(
        with_schema(named),
        "a long name around",
        "names of its columns would take up more than 16777216 bytes",
    );
    let groups_of_groups = root(20_000).chain((0..20_000).flat_map(|_| groups(30, "").chain(columns(1))));
    refused(with_schema(groups_of_groups), "deep and wide", "names of its columns would take up");
}
