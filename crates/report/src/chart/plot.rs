//! The values behind a chart over time, for the page's script: crosshair, hidden lines, zoom.
//!
//! The drawing itself stands without the script. Long lines are thinned by [`min_max`], so that every extreme is kept; what
//! the script shows are kept points, never interpolated ones.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::panel::Panel;
use crate::sample::min_max;

/// Stretches of time in each of which the first, lowest, highest and last point of a line are kept.
pub(crate) const BUCKETS: usize = 1_000;

const SECOND_NS: f64 = 1e9;

/// How values of a panel are written: the factor, decimals and what follows.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    pub(crate) factor: f64,
    pub(crate) decimals: usize,
    pub(crate) after: String,
    /// Whether zero stays in view.
    pub(crate) zero: bool,
}

/// The values of one chart over time.
pub(crate) struct Plot {
    formats: Vec<Format>,
    series: Vec<Value>,
}

impl Plot {
    pub(crate) fn new(formats: Vec<Format>) -> Self {
        Self { formats, series: Vec::new() }
    }

    /// Adds a line (x in ns) to a panel and gives its index, for [`Svg::tag`](crate::svg::Svg::tag).
    pub(crate) fn add(&mut self, name: &str, key: &str, panel: usize, points: &[(f64, f64)]) -> usize {
        let kept = min_max(points, BUCKETS);
        self.push(json!({ "n": name, "c": key, "p": panel, "x": seconds(&kept), "y": values(&kept) }))
    }

    /// Adds marks, of which only zooming and hiding speak.
    pub(crate) fn add_marks(&mut self, panel: usize, points: &[(f64, f64)]) -> usize {
        let kept = min_max(points, BUCKETS);
        self.push(json!({ "p": panel, "x": seconds(&kept), "y": values(&kept) }))
    }

    /// Adds a band: low and high at each x.
    pub(crate) fn add_band(&mut self, panel: usize, band: &[(f64, f64, f64)]) -> usize {
        let low: Vec<(f64, f64)> = band.iter().map(|b| (b.0, b.1)).collect();
        let high: Vec<(f64, f64)> = band.iter().map(|b| (b.0, b.2)).collect();
        self.push(json!({ "p": panel, "x": seconds(&low), "y": values(&high), "z": values(&low) }))
    }

    fn push(&mut self, series: Value) -> usize {
        self.series.push(series);
        self.series.len() - 1
    }

    /// The chart with its values; nothing in it depends on the script.
    pub(crate) fn around(self, chart: &Markup) -> Markup {
        let format = |f: &Format| json!({ "k": f.factor, "d": f.decimals, "a": f.after, "zero": f.zero });
        let formats: Vec<Value> = self.formats.iter().map(format).collect();
        let data = json!({ "panels": formats, "series": self.series }).to_string();
        html! { div.plot data-plot=(data) { (chart) } }
    }
}

/// What the script needs to know of panels drawn over time.
pub(crate) fn geometry(panels: &[&Panel]) -> String {
    let one = |panel: &&Panel| panel.geometry(SECOND_NS);
    panels.iter().map(one).collect::<Vec<_>>().join(";")
}

/// Whole seconds, the first as it is and then the steps.
fn seconds(points: &[(f64, f64)]) -> Vec<i64> {
    let mut before = 0;
    let step = |&(x, _): &(f64, f64)| {
        let here = (x / SECOND_NS).round() as i64;
        let step = here - before;
        before = here;
        step
    };
    points.iter().map(step).collect()
}

/// Seven digits are more than a chart or a tooltip shows.
fn values(points: &[(f64, f64)]) -> Vec<Value> {
    points.iter().map(|&(_, y)| short(y)).collect()
}

fn short(y: f64) -> Value {
    let digits = if y == 0.0 { 0 } else { (8 - y.abs().log10().floor() as i32).clamp(0, 12) };
    let scale = 10f64.powi(digits);
    let rounded = (y * scale).round() / scale;
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 { json!(rounded as i64) } else { json!(rounded) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short_and_times_are_steps() {
        assert_eq!(seconds(&[(5e9, 0.0), (7e9, 0.0), (10e9, 0.0)]), [5, 2, 3]);
        assert_eq!((short(100_000.0), short(-0.012_345_678_912)), (json!(100_000), json!(-0.012_345_678_9)));
        assert_eq!(short(0.0), json!(0));
    }
}
