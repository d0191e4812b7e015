//! What every reader hands to the checks, whatever the file format: rows as they stand in the file, nothing judged yet.

use rust_decimal::Decimal;

use crate::source::{Basis, StampSide};

/// One row of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawRow {
    /// Line (or record number) in the unpacked file, from 1.
    pub(crate) line: u64,
    /// The stamp's text, for messages.
    pub(crate) stamp: String,
    /// The stamp in ns UTC.
    pub(crate) stamp_ns: i64,
    /// Open, high, low, close: of trades or of the bid.
    pub(crate) bid: [Decimal; 4],
    /// Open, high, low, close of the ask.
    pub(crate) ask: Option<[Decimal; 4]>,
    /// Volume in base units.
    pub(crate) volume: Option<Decimal>,
}

/// A file's rows, and what the reader knows about them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawTable {
    pub(crate) rows: Vec<RawRow>,
    /// Format in words.
    pub(crate) format: String,
    /// Stamp format in words.
    pub(crate) stamp_format: String,
    /// What the format says of stamps, if it says anything.
    pub(crate) stamp_side: Option<StampSide>,
    /// Zone that stamps were read in, and why.
    pub(crate) time_zone: (String, Basis),
    pub(crate) columns_unused: Vec<String>,
}
