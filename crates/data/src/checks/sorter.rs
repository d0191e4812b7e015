//! Rows in order of time, however many: sorted runs in a temporary file, merged as they are read back.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
};

use super::{GridRow, Sink};
use crate::error::DataError;

/// Rows of a run, which are held while it is filled: 40 MB.
const RUN_ROWS: usize = 1 << 19;
/// Rows of each run that are held while runs are merged.
const READ_ROWS: usize = 256;
/// A row's bytes, without extra columns: line, stamp, whether there are ask and volume, eight prices, volume.
const ROW_BYTES: usize = 8 + 8 + 1 + 8 * 4 + 8;

/// Sorts rows by stamp; rows of one stamp keep their order. Up to one run is sorted in memory.
pub(crate) struct Sorter {
    path: String,
    run_rows: usize,
    /// The run that is filled.
    filling: Vec<GridRow>,
    /// Where runs begin in the file, and their rows.
    runs: Vec<(u64, usize)>,
    file: Option<File>,
    /// Bytes of a row.
    row_bytes: usize,
}

impl Sorter {
    /// Sorts the rows of the file `path`.
    pub(crate) fn new(path: &str) -> Self {
        Self::with_runs_of(path, RUN_ROWS)
    }

    fn with_runs_of(path: &str, run_rows: usize) -> Self {
        Self {
            path: path.to_owned(),
            run_rows,
            filling: Vec::new(),
            runs: Vec::new(),
            file: None,
            row_bytes: ROW_BYTES,
        }
    }

    /// Hands all rows on in order; may be called again. Nothing is taken afterwards.
    ///
    /// # Errors
    /// Those of the temporary file, and those of `take`.
    pub(crate) fn each(
        &mut self,
        take: &mut dyn FnMut(&GridRow) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        if self.file.is_some() && !self.filling.is_empty() {
            self.spill()?;
        }
        let Some(file) = &mut self.file else {
            self.filling.sort_by_key(|row| row.stamp_ns);
            return self.filling.iter().try_for_each(take);
        };
        let failed = |e| no_room(&self.path, self.row_bytes, &e);
        let mut runs: Vec<Run> =
            self.runs.iter().map(|&(at, rows)| Run::new(at, rows, self.row_bytes)).collect();
        let mut heap = BinaryHeap::new();
        for (i, run) in runs.iter_mut().enumerate() {
            heap.extend(run.front(file).map_err(failed)?.map(|row| Reverse((row.stamp_ns, i))));
        }
        while let Some(Reverse((_, i))) = heap.pop() {
            if let Some(row) = runs[i].held.pop_front() {
                take(&row)?;
            }
            heap.extend(runs[i].front(file).map_err(failed)?.map(|row| Reverse((row.stamp_ns, i))));
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), DataError> {
        self.filling.sort_by_key(|row| row.stamp_ns);
        let written = (|| {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile()?),
            };
            let at = file.seek(SeekFrom::End(0))?;
            let mut out = BufWriter::new(file);
            self.filling.iter().try_for_each(|row| out.write_all(&bytes_of(row)))?;
            out.flush().map(|()| at)
        })();
        let at = written.map_err(|e| no_room(&self.path, self.row_bytes, &e))?;
        self.runs.push((at, self.filling.len()));
        self.filling.clear();
        Ok(())
    }
}

impl Sink for Sorter {
    fn begin(&mut self, _: Option<i64>) {
        *self = Self::with_runs_of(&self.path, self.run_rows);
    }

    fn take(&mut self, row: &GridRow) -> Result<(), DataError> {
        self.row_bytes = ROW_BYTES + 8 * row.extra.len();
        self.filling.push(row.clone());
        if self.filling.len() == self.run_rows { self.spill() } else { Ok(()) }
    }
}

fn no_room(path: &str, row_bytes: usize, e: &io::Error) -> DataError {
    let problem =
        format!("has rows out of order, which are sorted in a temporary file, and that failed ({e})");
    let fix = format!(
        "make room in the folder of temporary files ({row_bytes} bytes a row; TMPDIR names it), or sort the file first"
    );
    DataError::file(path, problem, fix)
}

/// A run that is read back.
struct Run {
    at: u64,
    left: usize,
    row_bytes: usize,
    held: VecDeque<GridRow>,
}

impl Run {
    fn new(at: u64, left: usize, row_bytes: usize) -> Self {
        Self { at, left, row_bytes, held: VecDeque::new() }
    }

    /// The next row, which stays.
    fn front(&mut self, file: &mut File) -> io::Result<Option<GridRow>> {
        if self.held.is_empty() && self.left > 0 {
            let rows = self.left.min(READ_ROWS);
            let mut bytes = vec![0; rows * self.row_bytes];
            file.seek(SeekFrom::Start(self.at))?;
            file.read_exact(&mut bytes)?;
            self.held.extend(bytes.chunks_exact(self.row_bytes).map(row_of));
            self.at += bytes.len() as u64;
            self.left -= rows;
        }
        Ok(self.held.front().cloned())
    }
}

fn bytes_of(row: &GridRow) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ROW_BYTES + 8 * row.extra.len());
    let mut put = |part: &[u8]| bytes.extend_from_slice(part);
    put(&row.line.to_le_bytes());
    put(&row.stamp_ns.to_le_bytes());
    put(&[u8::from(row.ask.is_some()) | u8::from(row.lots.is_some()) << 1]);
    for price in row.bid.into_iter().chain(row.ask.unwrap_or_default()) {
        put(&price.to_le_bytes());
    }
    put(&row.lots.unwrap_or_default().to_le_bytes());
    row.extra.iter().for_each(|bits| put(&bits.to_le_bytes()));
    bytes
}

fn row_of(bytes: &[u8]) -> GridRow {
    let mut at = 0;
    let mut long = |len: usize| {
        let mut word = [0; 8];
        word[..len].copy_from_slice(&bytes[at..at + len]);
        at += len;
        u64::from_le_bytes(word)
    };
    let (line, stamp_ns, which) = (long(8), long(8) as i64, long(1));
    let mut prices = || std::array::from_fn(|_| long(4) as i32);
    let (bid, ask) = (prices(), prices());
    let lots = long(8) as i64;
    GridRow {
        line,
        stamp_ns,
        bid,
        ask: (which & 1 != 0).then_some(ask),
        lots: (which & 2 != 0).then_some(lots),
        extra: (ROW_BYTES..bytes.len()).step_by(8).map(|_| long(8)).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn row(i: u64, quoted: bool) -> GridRow {
        GridRow {
            line: i,
            // Up and down, with stamps that occur twice.
            stamp_ns: (i * 7_919 % 1_009) as i64 - 500,
            bid: [i as i32, i32::MAX, -1, 3],
            ask: quoted.then_some([4, 5, i32::MIN, i as i32]),
            lots: (!i.is_multiple_of(3)).then_some(i64::MIN + i as i64),
            extra: if quoted { vec![u64::MAX - i, f64::NAN.to_bits()] } else { Vec::new() },
        }
    }

    #[test]
    fn runs_in_a_file_merge_to_what_memory_sorts() {
        for (n, quoted) in [(0, false), (1, true), (99, true), (100, false), (2_500, true)] {
            let mut right: Vec<GridRow> = (0..n).map(|i| row(i, quoted)).collect();
            let mut sorters = [Sorter::with_runs_of("x", 100), Sorter::new("x")];
            for sorter in &mut sorters {
                sorter.take(&row(17, quoted)).unwrap();
                // Rows of another symbol are forgotten.
                sorter.begin(None);
                right.iter().for_each(|row| sorter.take(row).unwrap());
            }
            right.sort_by_key(|row| row.stamp_ns);
            assert_eq!(sorters.each_ref().map(|s| s.file.is_some()), [n >= 100, false]);
            for sorter in &mut sorters {
                for _ in 0..2 {
                    let mut merged = Vec::new();
                    let mut keep = |row: &GridRow| {
                        merged.push(row.clone());
                        Ok(())
                    };
                    sorter.each(&mut keep).unwrap();
                    assert_eq!(merged, right);
                }
            }
        }
    }
}
