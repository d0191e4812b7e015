//! Market data files to bars on an integer price grid.
//!
//! The way of a file: its bytes are summed and unpacked (`open`), its format is told from the first of them (`detect`), it is split
//! into rows of texts, which are understood from the first ones (`reader`) and turned to integers one by one (`checks`): [`load`]
//! holds them as [`Bars`], one table of integers that hold for the [`Instrument`]'s grid, with what was repaired counted in
//! [`SourceInfo`]; a [`BarStream`] hands them on one after the other, and holds nothing that grows with them. [`inspect`] says in
//! words what a file holds; [`MarketColumns`] are the causal integer columns that the market simulation reads; [`BarWriter`] writes
//! bars for other tools.
//!
//! No float takes part between the text of a price and its integer.

mod bars;
mod calendar;
mod checks;
mod convert;
mod detect;
mod digest;
mod error;
mod extra;
mod heading;
mod histogram;
mod hours;
mod inspect;
mod inspection;
mod instrument;
mod jumps;
mod load;
mod market_columns;
mod moment;
mod open;
mod plot;
mod positions;
pub mod presets;
mod reader;
mod sample;
mod source;
mod stamp;
mod stream;

pub use bars::{Bar, Bars, Ohlc, YEAR_SECONDS};
pub use calendar::{LocalTime, SessionClock, SessionNow};
pub use convert::{BarWriter, write_parquet};
pub use error::DataError;
pub use extra::ExtraColumn;
pub use heading::Heading;
pub use inspect::{Inspector, inspect};
pub use inspection::{Gap, Inspection};
pub use instrument::{FinancingBase, Instrument, RATE_ONE_E7, Session};
pub use jumps::{Edges, Jump, JumpKind};
pub use load::{LoadOptions, RangePolicy, load, load_bytes, load_stream};
pub use market_columns::{ATR_BARS, MarketColumns, SLOW_BARS};
pub use moment::{parse_moment, show_moment, show_seconds};
pub use plot::{Picture, plot};
pub use positions::{OfMarket, Positions};
pub use reader::{
    columns::{ColumnMap, Field},
    delimited::delimiter,
    numbers::DecimalMark,
};
pub use rust_decimal::Decimal;
pub use sample::{SAMPLE_CSV, sample};
pub use source::{Basis, Repairs, SourceInfo, StampSide};
pub use stamp::{DateOrder, StampFormat};
pub use stream::BarStream;
