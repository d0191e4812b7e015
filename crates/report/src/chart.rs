//! The charts. Each is drawn twice, for wide and for narrow pages; the style sheet shows one of the two.

mod closeup;
mod curves;
mod equity;
mod histogram;
mod panel;
mod plot;
mod positions;
mod rolling;
mod waterfall;

use maud::{Markup, PreEscaped, html};

use crate::svg::Size;

pub use panel::{Panel, extent};

pub(crate) use closeup::closeup;
pub(crate) use curves::curve;
pub(crate) use equity::equity;
pub(crate) use histogram::{day_returns, trips};
pub(crate) use plot::BUCKETS;
pub(crate) use positions::positions;
pub(crate) use rolling::{rolling, rolling_window};
pub(crate) use waterfall::{Step, waterfall};

/// A chart in both sizes. Heights are in pixels; the widths are those of the page.
pub fn both(wide: (f64, f64), narrow: (f64, f64), draw: impl Fn(Size) -> PreEscaped<String>) -> Markup {
    html! {
        (draw(Size { width: wide.0, height: wide.1, narrow: false }))
        (draw(Size { width: narrow.0, height: narrow.1, narrow: true }))
    }
}

/// Width of a chart that fills a wide page.
pub const FULL: f64 = 1040.0;
/// Of one that fills a narrow page.
pub const NARROW: f64 = 384.0;
