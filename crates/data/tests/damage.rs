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

/// Stamps as text, prices as doubles, in the encodings that count lengths of texts in the page.
fn texts(encoding: Encoding, version: WriterVersion, nullable: bool) -> Vec<u8> {
    let text = if nullable { "optional" } else { "required" };
    let prices: String = ["open", "high", "low", "close"].map(|n| format!("required double {n};")).concat();
    let schema = format!("message bars {{ {text} binary time (UTF8); {prices} }}");
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
