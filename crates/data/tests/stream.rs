//! A long file streams: what is held beside the bars does not grow with it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod counting;

use std::{
    io::{self, BufWriter, Read, Write as _},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use counting::peak_of;
use foxhunt_data::{BarStream, BarWriter, Inspector, LoadOptions, Picture, load_stream, presets};

/// Bars as text, made while they are read.
struct Rows {
    made: usize,
    /// Rows that have been asked for so far, for the test to see.
    seen: Arc<AtomicUsize>,
    rows: usize,
    line: Vec<u8>,
    at: usize,
    /// Cells after the bar's, which make the file large and the bars not.
    padding: &'static str,
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            if self.made == self.rows {
                return Ok(0);
            }
            (self.at, self.made) = (0, self.made + 1);
            self.seen.store(self.made, Relaxed);
            self.line.clear();
            let stamp = 1_577_836_800 + self.made * 60;
            let price = 100_000 + self.made % 1_000;
            writeln!(self.line, "{stamp},1.{price},1.2,1.0,1.1,5000,{}", self.padding)?;
        }
        let n = (self.line.len() - self.at).min(buffer.len());
        buffer[..n].copy_from_slice(&self.line[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[test]
fn memory_is_that_of_the_bars_however_long_the_file() {
    // 400,000 rows of about 840 bytes: 336 MB of text.
    let (rows, padding) = (400_000, Box::leak("x".repeat(800).into_boxed_str()));
    let seen = Arc::new(AtomicUsize::new(0));
    let reader = Rows { made: 0, seen: Arc::clone(&seen), rows, line: Vec::new(), at: 0, padding };
    let options = LoadOptions {
        instrument: Some(presets::eurusd()),
        columns: "time=#1,open=#2,high=#3,low=#4,close=#5,volume=#6".parse().unwrap(),
        ..LoadOptions::default()
    };
    let (bars, peak) = peak_of(|| load_stream("long.csv", reader, &options).unwrap());
    assert_eq!((bars.len(), seen.load(Relaxed)), (rows, rows));
    assert_eq!(bars.bid.open[rows - 1], 220_000);
    // 48 bytes a row, which vectors may double while they grow, and a copy of the stamps as opens and closes; the first
    // thousand rows of text.
    let bound = rows * (2 * 48 + 16) + 4_000_000;
    println!("{peak} bytes at most, {} a row", peak / rows);
    assert!(peak < bound, "{peak} bytes held, {bound} allowed");
    assert!(peak < 336_000_000 / 4, "the file is not held");
}

/// What convert and inspect do with a file of so many bars; the most bytes that were held.
fn converted_and_inspected(rows: usize) -> usize {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut text = BufWriter::new(&mut file);
    for i in 0..rows {
        // A gap now and then, and prices that move.
        let (stamp, close) = (1_577_836_800 + i * 60 + i / 1_000 * 86_400, 10_000 + i % 997);
        writeln!(text, "{stamp},1.{},1.2,1.0,1.{close},{}", 10_000 + i % 991, i % 5 * 1_000).unwrap();
    }
    text.flush().unwrap();
    drop(text);
    let options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    let ((), peak) = peak_of(|| {
        let mut bars = BarStream::open(file.path(), &options).unwrap();
        let mut writer = BarWriter::new("x", bars.heading(), io::sink()).unwrap();
        let (mut inspector, mut picture) = (Inspector::new(bars.heading()), Picture::new(bars.heading()));
        bars.each(|bar| {
            inspector.push(bar);
            picture.push(bar);
            writer.push(bar)
        })
        .unwrap();
        writer.finish().unwrap();
        let inspection = inspector.finish();
        assert_eq!((inspection.rows, inspection.gaps), (rows, rows.div_ceil(1_000) - 1));
    });
    peak
}

#[test]
fn bars_that_are_not_held_take_no_more_memory_the_more_there_are() {
    // Both are more than a row group of Parquet, which the writer holds.
    let (few, many) = (converted_and_inspected(140_000), converted_and_inspected(400_000));
    println!("{few} bytes of 140,000 bars, {many} of 400,000");
    assert!(many < few + 500_000, "{few} bytes of 140,000 bars, {many} of 400,000");
}

#[test]
fn a_file_that_is_written_to_meanwhile_is_refused() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"1577836800,1.1,1.2,1.0,1.1,5\n1577836860,1.1,1.2,1.0,1.1,5\n").unwrap();
    file.flush().unwrap();
    let options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    let mut bars = BarStream::open(file.path(), &options).unwrap();
    let mut opens = Vec::new();
    bars.each(|bar| {
        opens.push(bar.open_ns);
        Ok(())
    })
    .unwrap();
    assert_eq!(opens, [1_577_836_800_000_000_000, 1_577_836_860_000_000_000]);
    file.write_all(b"1577836920,1.1,1.2,1.0,1.1,5\n").unwrap();
    file.flush().unwrap();
    let message = bars.each(|_| Ok(())).unwrap_err().to_string();
    assert!(message.contains("was changed while it was read; start again when"), "{message}");
}

#[test]
fn a_file_is_read_only_as_far_as_its_first_fault() {
    let seen = Arc::new(AtomicUsize::new(0));
    let reader =
        Rows { made: 0, seen: Arc::clone(&seen), rows: 1_000_000_000, line: Vec::new(), at: 0, padding: "0" };
    let options = LoadOptions { instrument: Some(presets::eurusd()), ..LoadOptions::default() };
    // A row in another shape after 5,000; behind it is a billion of rows that no one will read.
    let faulty = Faulty { rows: reader, sent: 0, fault_at: 200_000 };
    let message = load_stream("long.csv", faulty, &options).unwrap_err().to_string();
    assert!(message.contains("field") || message.contains("columns"), "{message}");
    assert!(seen.load(Relaxed) < 20_000, "{} rows were read", seen.load(Relaxed));
}

/// Puts a word among the bytes.
struct Faulty {
    rows: Rows,
    sent: usize,
    fault_at: usize,
}

impl Read for Faulty {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.rows.read(buffer)?;
        if self.sent < self.fault_at && self.sent + n >= self.fault_at {
            buffer[..n].fill(b'?');
            buffer[n - 1] = b'\n';
        }
        self.sent += n;
        Ok(n)
    }
}
