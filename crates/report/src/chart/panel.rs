//! A rectangle with axes, and the way from data to pixels.

use crate::format::decimal;
use crate::scale::{round_ticks, tick_decimals, time_ticks};
use crate::svg::{Anchor, Size, Svg};

/// Where data goes.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: (f64, f64),
    y: (f64, f64),
}

impl Panel {
    /// A panel across the drawing, with room for the labels of the y axis on its left.
    pub fn across(size: Size, top: f64, height: f64, x: (f64, f64), y: (f64, f64)) -> Self {
        let left = if size.narrow { 52.0 } else { 72.0 };
        // A single point still needs a span, one that its own size does not swallow.
        let x = if x.1 > x.0 { x } else { (x.0, x.0 + 1.0 + x.0.abs() * 1e-6) };
        Self { left, top, width: size.width - left - 10.0, height, x, y }
    }

    /// Where a value of the x axis is.
    pub fn px(&self, x: f64) -> f64 {
        self.left + (x - self.x.0) / (self.x.1 - self.x.0) * self.width
    }

    /// Where a value of the y axis is.
    pub fn py(&self, y: f64) -> f64 {
        self.top + (self.y.1 - y) / (self.y.1 - self.y.0) * self.height
    }

    /// Where points are.
    pub fn to_pixels(self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        points.iter().map(|&(x, y)| (self.px(x), self.py(y))).collect()
    }

    /// A panel from its left upper corner, for drawings whose labels need more room than numbers do.
    pub fn at((left, top): (f64, f64), (width, height): (f64, f64), x: (f64, f64), y: (f64, f64)) -> Self {
        Self { left, top, width, height, x, y }
    }

    /// One bucket for every two pixels.
    pub fn buckets(&self) -> usize {
        (self.width / 2.0) as usize
    }

    /// Its right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Its left edge.
    pub fn left(&self) -> f64 {
        self.left
    }

    /// Its lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Grid lines and labels of the y axis; `label` writes a value with so many decimals.
    pub fn y_axis(&self, svg: &mut Svg, label: impl Fn(f64, usize) -> String) {
        let ticks = round_ticks(self.y.0, self.y.1, ((self.height / 36.0) as usize).max(3));
        let decimals = tick_decimals(&ticks);
        for value in ticks {
            let y = self.py(value);
            svg.line("grid", (self.left, y), (self.right(), y));
            svg.fitted("tick", (self.left - 8.0, y + 4.0), &label(value, decimals), self.left - 10.0);
        }
    }

    /// Plain numbers on the y axis.
    pub fn y_numbers(&self, svg: &mut Svg) {
        self.y_axis(svg, decimal);
    }

    /// Round numbers and their grid lines along the bottom.
    pub fn x_numbers(&self, svg: &mut Svg, count: usize) {
        let ticks = round_ticks(self.x.0, self.x.1, count);
        let decimals = tick_decimals(&ticks);
        for value in ticks {
            self.date(svg, value, &decimal(value, decimals));
        }
    }

    /// How many dates fit side by side.
    fn date_count(&self) -> usize {
        (self.width / 80.0) as usize
    }

    /// Dates along the bottom, of an x axis in ns.
    pub fn dates(&self, svg: &mut Svg) {
        let count = self.date_count();
        for (ns, label) in time_ticks(self.x.0 as i64, self.x.1 as i64, count) {
            self.date(svg, ns as f64, &label);
        }
    }

    /// The same lines without labels, for a panel above one that has them.
    pub fn date_lines(&self, svg: &mut Svg) {
        let count = self.date_count();
        for (ns, _) in time_ticks(self.x.0 as i64, self.x.1 as i64, count) {
            self.date_line(svg, ns as f64);
        }
    }

    /// A vertical line without a label.
    pub fn date_line(&self, svg: &mut Svg, x: f64) {
        let x = self.px(x);
        svg.line("grid", (x, self.top), (x, self.bottom()));
    }

    /// Whether a label below `x` would be moved to the left, not to be cut off.
    pub fn at_edge(&self, x: f64) -> bool {
        self.px(x) > self.right() - 24.0
    }

    /// One mark on the x axis.
    pub fn date(&self, svg: &mut Svg, x: f64, label: &str) {
        self.date_line(svg, x);
        // Labels at the very edges would be cut off.
        let anchor = if self.at_edge(x) { Anchor::End } else { Anchor::Middle };
        let x = self.px(x);
        svg.text("tick", (x.max(self.left), self.bottom() + 16.0), anchor, label);
    }

    /// Left, top, width, height, range of x in these units and of y, for the page's script.
    pub(crate) fn geometry(&self, unit: f64) -> String {
        let Self { left, top, width, height, x, y } = self;
        format!("{left} {top} {width} {height} {} {} {} {}", x.0 / unit, x.1 / unit, y.0, y.1)
    }

    /// A line at a value, across the panel.
    pub fn level(&self, svg: &mut Svg, class: &str, value: f64) {
        let y = self.py(value);
        svg.line(class, (self.left, y), (self.right(), y));
    }

    /// The heading within the panel's top left corner.
    pub fn heading(&self, svg: &mut Svg, text: &str) {
        svg.text("heading", (self.left, self.top - 7.0), Anchor::Start, text);
    }
}

/// Least and greatest y of several lines, none if there is no finite y.
pub fn extent<'a>(lines: impl IntoIterator<Item = &'a Vec<(f64, f64)>>) -> (f64, f64) {
    let finite = lines.into_iter().flatten().map(|&(_, y)| y).filter(|y| y.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)))
}
