//! From rows as they stand in a file to bars that hold every promise of [`Bars`](crate::Bars), or a refusal.
//!
//! A row goes to integers at once ([`Intake`]) and to a [`Sink`]. Some of what holds for a bar is known only when all rows have
//! been seen: order, bar length, the grid that mids need, whether opens are made. A [`Survey`] of the rows in order settles that
//! in running statistics, and a second look at the rows makes the bars ([`Finisher`]). The second look is at rows held in memory
//! ([`Columns`]), or at the file once more ([`BarStream`](crate::BarStream)).

mod collect;
mod columns;
mod finish;
mod prices;
mod settle;
mod sorter;
mod survey;
mod times;
mod volume;

use crate::source::{Basis, StampSide};

pub(crate) use collect::{GridRow, Intake, RawBar, Sink, Volume};
pub(crate) use columns::Columns;
pub(crate) use finish::Finisher;
pub(crate) use settle::Settled;
pub(crate) use sorter::Sorter;
pub(crate) use survey::Survey;

/// What the reader understood of a file, for the report.
#[derive(Debug)]
pub(crate) struct Understood {
    pub(crate) format: String,
    pub(crate) stamp_format: String,
    /// What the format or the header says of stamps.
    pub(crate) stamp_side: Option<(StampSide, Basis)>,
    /// Zone that stamps were read in, and why.
    pub(crate) time_zone: (String, Basis),
    pub(crate) columns: Vec<String>,
    pub(crate) columns_unused: Vec<String>,
    /// Names of the extra columns.
    pub(crate) extra: Vec<String>,
    pub(crate) notes: Vec<String>,
}
