//! Where bars came from and what was done to them: carried along into every report.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::jumps::{self, Edges, Jump};

/// Whether a bar's stamp is the moment it opens or the moment it closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StampSide {
    /// The stamp is the bar's open.
    Open,
    /// The stamp is the bar's close.
    Close,
}

/// How something about a file was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The caller said so.
    Given,
    /// It is written in the file.
    InFile,
    /// The format is known to be so.
    Known,
    /// Inferred from the data.
    Inferred,
    /// Nothing speaks for or against: the usual convention.
    Assumed,
}

impl fmt::Display for StampSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "bar opens",
            Self::Close => "bar closes",
        })
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "as given",
            Self::InFile => "as written in the file",
            Self::Known => "known for this format",
            Self::Inferred => "inferred from the data",
            Self::Assumed => "assumed: the usual convention",
        })
    }
}

/// What was changed on the way from file to bars, counted. All zero for a file taken as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repairs {
    /// Prices that lay off the grid and moved to the nearest unit (ties away from zero).
    pub prices_snapped: u64,
    /// Bars whose open was replaced by their close: first after a time gap, in a file of synthetic opens.
    pub opens_replaced: u64,
    /// Bars whose high or low was widened to hold their open and close (only where asked for).
    pub ranges_widened: u64,
    /// Bars whose open or close moment was moved so that they do not overlap a neighbour.
    pub times_trimmed: u64,
    /// Bars whose volume was above zero and below one lot: counted as none.
    pub volumes_below_lot: u64,
    /// Volumes whose cell was empty, in a file that has others: counted as none.
    #[serde(default)]
    pub volumes_missing: u64,
    /// Rows whose price cells were all empty: they are no bars, and the time is a gap.
    #[serde(default)]
    pub rows_without_prices: u64,
    /// Numbers that had thousands apart, a sign of currency, or K, M or B behind them.
    #[serde(default)]
    pub numbers_cleaned: u64,
    /// Lines that were no rows: words before and after the table, repeated headers.
    #[serde(default)]
    pub lines_skipped: u64,
    /// Rows that stood before a row of an earlier time: the rows have been sorted.
    #[serde(default)]
    pub steps_back: u64,
    /// Rows that repeated another in time, prices and volume, and were dropped.
    #[serde(default)]
    pub duplicates_dropped: u64,
    /// Wall times that a clock change repeats; their order decided which hour is meant.
    #[serde(default)]
    pub wall_times_repeated: u64,
    /// Values of columns beside the bars that were missing after the first one: the last one before holds.
    #[serde(default)]
    pub values_held: u64,
    /// The file was newest first and has been turned round.
    pub reversed: bool,
    /// The price unit was halved so that mids of quote bars are exact.
    pub grid_refined: bool,
}

/// Where bars came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// The file as it was named.
    pub path: String,
    /// SHA-256 of the file's bytes as stored (packed, if it is packed), in hexadecimal.
    pub sha256: String,
    /// Format in words, such as `comma-separated text, header, gzip`.
    pub format: String,
    /// Stamp format in words, such as `unix seconds`.
    pub stamp_format: String,
    /// Whether stamps are opens or closes.
    pub stamp_side: StampSide,
    /// How that was decided.
    pub stamp_side_basis: Basis,
    /// Zone that stamps were read in.
    pub time_zone: String,
    /// How that was decided.
    pub time_zone_basis: Basis,
    /// Nominal bar length in seconds: the most common step between stamps, or as given.
    pub bar_seconds: i64,
    /// Rows with prices that were read from the file (of the chosen symbol).
    pub rows_read: u64,
    /// Columns that were used, such as `time=Date`.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Columns that were not used, by name.
    pub columns_unused: Vec<String>,
    /// What was inferred beside that, in sentences.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Bars whose open equals the close of the bar before, where there is one.
    pub opens_at_previous_close: u64,
    /// More than 99 % of bars open at the close before: opens are made, not observed.
    pub synthetic_opens: bool,
    /// Prices far from those around them, which stay as they are; the first 65,536.
    #[serde(default)]
    pub jumps: Vec<Jump>,
    /// Where prices begin and end.
    #[serde(default)]
    pub edges: Option<Edges>,
    /// What was changed, counted.
    pub repairs: Repairs,
}

impl SourceInfo {
    /// Of `rows` bars that the program made, each of which opens at the close before: `what` stands for the file's name.
    pub fn made(what: String, sha256: String, bar_seconds: i64, rows: usize) -> Self {
        SourceInfo {
            path: what,
            sha256,
            format: "made by the program".into(),
            stamp_format: "none".into(),
            stamp_side: StampSide::Open,
            stamp_side_basis: Basis::Given,
            time_zone: "UTC".into(),
            time_zone_basis: Basis::Given,
            bar_seconds,
            rows_read: rows as u64,
            columns: Vec::new(),
            columns_unused: Vec::new(),
            notes: Vec::new(),
            opens_at_previous_close: rows.saturating_sub(1) as u64,
            synthetic_opens: true,
            jumps: Vec::new(),
            edges: None,
            repairs: Repairs::default(),
        }
    }

    /// In words how many prices are far from those around them, other than by what looks like a split, and where the first are;
    /// `None` if none is.
    pub fn far_prices(&self) -> Option<String> {
        self.told(false, "one price is far from those around it", "prices are far from those around them")
    }

    /// In words how many jumps look like splits that prices were not adjusted for, and where the first are; `None` if none does.
    pub fn splits(&self) -> Option<String> {
        self.told(true, "one jump looks like an unadjusted split", "jumps look like unadjusted splits")
    }

    /// Jumps that look like splits, or the others, in words for one of them and for several.
    fn told(&self, splits: bool, one: &str, several: &str) -> Option<String> {
        let these = || self.jumps.iter().filter(|jump| jump.is_split() == splits);
        let words = jumps::in_words(&self.path, these());
        match these().count() {
            0 => None,
            1 => Some(format!("{one}: {words}")),
            n => Some(format!("{n} {several}: {words}")),
        }
    }

    /// What is said of two files read one after the other, `rows` bars of the first: counts add up, the hash is that of both hashes,
    /// and words are the first file's.
    pub(crate) fn append(&mut self, rows: usize, next: SourceInfo) {
        jumps::append((&mut self.jumps, &mut self.edges), rows, (&next.path, next.jumps, next.edges));
        self.path = format!("{} + {}", self.path, next.path);
        self.sha256 = crate::open::sha256(format!("{}{}", self.sha256, next.sha256).as_bytes());
        self.rows_read += next.rows_read;
        self.opens_at_previous_close += next.opens_at_previous_close;
        self.synthetic_opens |= next.synthetic_opens;
        let (a, b) = (&mut self.repairs, next.repairs);
        a.prices_snapped += b.prices_snapped;
        a.opens_replaced += b.opens_replaced;
        a.ranges_widened += b.ranges_widened;
        a.times_trimmed += b.times_trimmed;
        a.volumes_below_lot += b.volumes_below_lot;
        a.volumes_missing += b.volumes_missing;
        a.rows_without_prices += b.rows_without_prices;
        a.numbers_cleaned += b.numbers_cleaned;
        a.lines_skipped += b.lines_skipped;
        a.steps_back += b.steps_back;
        a.duplicates_dropped += b.duplicates_dropped;
        a.wall_times_repeated += b.wall_times_repeated;
        a.values_held += b.values_held;
        a.reversed |= b.reversed;
        a.grid_refined |= b.grid_refined;
    }
}
