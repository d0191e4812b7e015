//! The report: one self-contained HTML file made from a ledger and nothing else.
//!
//! The file loads nothing, is whole without its own small script (crosshair, hidden lines, zoom, sorting), follows the reader's light or dark setting, fits a telephone and a sheet of paper, and is
//! the same bytes for the same input. A ledger that does not reconcile gets no report.
//!
//! Charts are inline SVG laid out by hand rather than by a plotting crate: colours and line styles are CSS classes, so
//! one drawing serves both colour schemes and print, which a back end that writes fixed colours cannot; and each is
//! drawn for a wide and for a narrow page, so that text keeps its size instead of shrinking with the drawing.

mod account;
mod calendar;
mod chart;
mod figures;
mod format;
mod input;
mod markets;
mod members;
mod page;
mod policy;
mod sample;
mod scale;
mod section;
mod svg;
mod view;

pub use figures::{FORMAT as FIGURES_FORMAT, figures};
pub use format::ruin;
pub use input::{EpochPoint, LearningCurve, MarketLine, PartLine, ReportError, ReportInput, StressLine};
pub use markets::{MarketsInput, market_figures, render_markets, write_markets};
/// What the report draws with, for other pages of the same looks.
pub mod draw {
    pub use crate::chart::{FULL, NARROW, Panel, both, extent};
    pub use crate::format::{decimal, integer, percent, short_hash, signed};
    pub use crate::page::shell;
    pub use crate::scale::{round_ticks, tick_decimals, with_room};
    pub use crate::svg::{Anchor, Size, Svg};
}

pub use page::{render, write_report};
