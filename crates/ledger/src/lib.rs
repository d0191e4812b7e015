//! What a backtest did: the account at every bar and every fill, exactly.
//!
//! A backtest fills a [`Ledger`]; metrics and the report read one and nothing else. All of it is integers, so that
//! [`reconcile()`] can demand that every bar agrees with an independent cash-flow book to the unit, and that the
//! change in equity is explained without a remainder.
//!
//! # Units
//!
//! Prices are `i32` on the instrument's price unit, quantities `i32` lots (long positive), money `i64` in
//! `10^-money_exponent` of the quote currency, rates `i32` in 1e-7, times `i64` ns UTC. One price unit on one lot is
//! worth [`LedgerHeader::tv`] money units.
//!
//! # Rows
//!
//! A member's first row is its *opening row*: the bar at whose close the first decision was taken, flat, equity equal
//! to the starting cash. Every later row is one bar that was traded: the action chosen at the previous row's close,
//! what its order did within this bar, and the account at this bar's close.
//!
//! # Files
//!
//! [`Ledger::write`] puts `bars.parquet` and `fills.parquet` into a directory; any Parquet reader opens them. Equal
//! ledgers give equal bytes.

mod book;
mod columns;
mod combined;
mod error;
mod header;
mod ledger;
mod parquet_io;

mod reconcile;
mod rows;
#[cfg(any(test, feature = "synth"))]
pub mod synth;

pub use book::{Book, BookError};
pub use combined::{CombineError, Combined, CombinedRow, combine};
pub use error::{Column, LedgerError, Mismatch, ReconcileError};
pub use header::{DataSource, FORMAT, LedgerHeader, MemberInfo, Rates, Stamps, Window};
pub use ledger::Ledger;
pub use parquet_io::{BARS_FILE, FILLS_FILE};

pub use reconcile::{Attribution, MemberAttribution, reconcile};
pub use rows::{Action, BarFlags, BarRow, FillReason, FillRow, Leg, OrderEnd, utc_day};
