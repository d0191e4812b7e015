//! Market data files to bars on an integer price grid.
//!
//! The way of a file: [`load`] reads its bytes and sums them (`bytes`), tells the format from them (`detect`), splits it
//! into rows of exact decimals with stamps in ns UTC (`reader`), and turns these into [`Bars`] (`checks`): one table of
//! integers that hold for the [`Instrument`]'s grid, with what was repaired counted in [`SourceInfo`]. [`inspect`] says in
//! words what a file holds; [`MarketColumns`] are the causal integer columns that the market simulation reads.
//!
//! No float takes part between the text of a price and its integer.

mod bars;
mod bytes;
mod calendar;
mod checks;
mod detect;
mod error;
mod inspect;
mod instrument;
mod load;
mod market_columns;
mod moment;
mod positions;
pub mod presets;
mod raw;
mod reader;
mod sample;
mod source;
mod stamp;

pub use bars::{Bars, Ohlc, YEAR_SECONDS};
pub use calendar::LocalTime;
pub use error::DataError;
pub use inspect::{Gap, Inspection, inspect};
pub use instrument::{FinancingBase, Instrument, RATE_ONE_E7, Session};
pub use load::{LoadOptions, RangePolicy, load, load_bytes};
pub use market_columns::{ATR_BARS, MarketColumns, SLOW_BARS};
pub use moment::{parse_moment, show_moment};
pub use positions::Positions;
pub use rust_decimal::Decimal;
pub use sample::{SAMPLE_CSV, sample};
pub use source::{Basis, Repairs, SourceInfo, StampSide};
pub use stamp::{DateOrder, StampFormat};
