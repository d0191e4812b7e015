//! Rows of texts, as every format's reader gives them.

use std::fmt;

use crate::{error::DataError, instrument::Instrument, source::StampSide};

/// One row. The texts lie in one string that is used again, so that a row costs no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// Line (or record number) in the unpacked file, from 1.
    pub(crate) line: u64,
    text: String,
    ends: Vec<usize>,
}

impl Row {
    /// Empties the row for the next line.
    pub(crate) fn start(&mut self, line: u64) {
        self.line = line;
        self.text.clear();
        self.ends.clear();
    }

    /// Adds a cell; blanks around it are no part of it.
    pub(crate) fn push(&mut self, cell: &str) {
        self.text.push_str(cell.trim());
        self.ends.push(self.text.len());
    }

    /// Adds a cell in words of its own.
    pub(crate) fn push_fmt(&mut self, cell: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = fmt::Write::write_fmt(&mut self.text, cell);
        self.ends.push(self.text.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.text.get(start..end)
    }

    /// A cell's text; empty where there is none.
    pub(crate) fn cell(&self, at: usize) -> &str {
        self.get(at).unwrap_or_default()
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = &str> + Clone {
        (0..self.len()).map(|at| self.cell(at))
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether both hold the same cells, wherever they stand.
    pub(crate) fn same_cells(&self, other: &Row) -> bool {
        self.ends == other.ends && self.text == other.text
    }
}

/// A stream of rows.
pub(crate) trait Rows {
    /// Reads the next row; false at the end.
    fn next(&mut self, row: &mut Row) -> Result<bool, DataError>;

    /// Lines that were no rows and have been passed over so far: words before and after the table, repeated headers.
    fn lines_skipped(&self) -> u64 {
        0
    }
}

/// What a format's reader knows before the first row.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Format in words.
    pub(crate) format: String,
    /// Names of the columns, where the format has them beside the rows.
    pub(crate) names: Option<Row>,
    /// The delimiter of text.
    pub(crate) delimiter: Option<u8>,
    /// What the format says of stamps.
    pub(crate) stamp_side: Option<StampSide>,
    /// What the format says of the bar length.
    pub(crate) bar_seconds: Option<i64>,
    /// The instrument that the file itself carries.
    pub(crate) instrument: Option<Instrument>,
    /// Columns that were no part of the bars when the program wrote the file, whatever their names mean.
    pub(crate) extra: Vec<String>,
    /// Columns that are of no type that bars have, and are not read.
    pub(crate) unread: Vec<String>,
}
