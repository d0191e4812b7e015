//! From the moves of the market to the change in equity, line by line.

use maud::Markup;

use super::{FULL, NARROW, both};
use crate::format::{decimal, signed};
use crate::scale::round_ticks;
use crate::svg::{Anchor, Svg};

/// One step: its name and its money (in the currency), gains positive. The last one is the total of the others.
pub(crate) struct Step {
    pub(crate) label: &'static str,
    pub(crate) amount: f64,
    pub(crate) total: bool,
}

/// A horizontal waterfall.
pub(crate) fn waterfall(steps: &[Step]) -> Markup {
    let row = 26.0;
    let height = row * steps.len() as f64 + 30.0;
    let mut spans = Vec::new();
    let mut at = 0.0;
    for step in steps {
        let from = if step.total { 0.0 } else { at };
        let to = from + step.amount;
        spans.push((from, to));
        at = to;
    }
    let low = spans.iter().fold(0.0f64, |low, &(a, b)| low.min(a).min(b));
    let high = spans.iter().fold(0.0f64, |high, &(a, b)| high.max(a).max(b));
    let span = if high > low { high - low } else { 1.0 };

    both((FULL, height), (NARROW, height), |size| {
        let mut svg = Svg::new(size);
        let (left, right) = if size.narrow { (124.0, 74.0) } else { (240.0, 110.0) };
        let width = size.width - left - right;
        let px = |value: f64| left + (value - low) / span * width;
        let bottom = row * steps.len() as f64 + 4.0;
        for tick in round_ticks(low, high, if size.narrow { 2 } else { 7 }) {
            let x = px(tick);
            svg.line(if tick == 0.0 { "zero" } else { "grid" }, (x, 0.0), (x, bottom));
            svg.text("tick", (x, bottom + 17.0), Anchor::Middle, &decimal(tick, 0));
        }
        for (k, (step, &(from, to))) in steps.iter().zip(&spans).enumerate() {
            let y = k as f64 * row + 4.0;
            let class = match (step.total, step.amount >= 0.0) {
                (true, _) => "total",
                (false, true) => "gain",
                (false, false) => "loss",
            };
            let (a, b) = (px(from.min(to)), px(from.max(to)));
            svg.rect(class, (a, y + 3.0), ((b - a).max(1.0), row - 9.0), "");
            svg.text("label", (left - 10.0, y + 16.0), Anchor::End, step.label);
            let amount = signed(decimal(step.amount, if size.narrow { 0 } else { 2 }));
            svg.text("label number", (size.width - 4.0, y + 16.0), Anchor::End, &amount);
        }
        svg.finish("What the change in equity is made of")
    })
}
