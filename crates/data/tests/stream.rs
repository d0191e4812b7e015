//! A long file streams: what is held beside the bars does not grow with it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    io::{self, Read},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use foxhunt_data::{LoadOptions, load_stream, presets};

/// Counts what is allocated, and its peak.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it came; counting touches no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the layout is the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
            use io::Write as _;
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
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let bars = load_stream("long.csv", reader, &options).unwrap();
    let peak = PEAK.load(Relaxed) - before;
    assert_eq!((bars.len(), seen.load(Relaxed)), (rows, rows));
    assert_eq!(bars.bid.open[rows - 1], 220_000);
    // 48 bytes a row, which vectors may double while they grow, and a copy of the stamps as opens and closes; the first
    // thousand rows of text.
    let bound = rows * (2 * 48 + 16) + 4_000_000;
    println!("{peak} bytes at most, {} a row", peak / rows);
    assert!(peak < bound, "{peak} bytes held, {bound} allowed");
    assert!(peak < 336_000_000 / 4, "the file is not held");
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
