//! Histograms: of the net gains of round trips, and of the returns of session days.

use maud::Markup;

use super::panel::Panel;
use super::{FULL, NARROW, both};
use crate::format::{decimal, integer, percent, signed};
use crate::svg::{Anchor, Size, Svg, text_width};
use crate::view::View;

/// Fewer values than this are no distribution.
const VALUES_MIN: usize = 5;

/// What a histogram is of.
struct Words {
    heading: &'static str,
    axis: String,
    label: String,
}

/// A histogram of the shown member's round trips, in the account's currency. None under five trips.
pub(crate) fn trips(view: &View<'_>) -> Option<Markup> {
    let nets: Vec<f64> =
        view.shown().series.trips.iter().map(|trip| view.units.amount(trip.net as f64)).collect();
    let currency = &view.units.currency;
    let words = Words {
        heading: "Round trips",
        axis: format!("net gain of a round trip, {currency}"),
        label: "How the net gains of round trips are distributed".into(),
    };
    let amount = |value: f64, step: f64| decimal(value, if step < 1.0 { 2 } else { 0 });
    histogram(&nets, &words, &amount, None)
}

/// A histogram of the shown member's day returns, with the normal distribution of the same mean and standard deviation. None
/// under five days.
pub(crate) fn day_returns(view: &View<'_>) -> Option<Markup> {
    let returns = view.shown().series.day_returns().ok()?;
    let words = Words {
        heading: "Session days",
        axis: "return of a session day".into(),
        label: "How the returns of session days are distributed".into(),
    };
    let n = returns.len() as f64;
    let mean = returns.iter().sum::<f64>() / n;
    let sd = (returns.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let text = |value: f64, step: f64| percent(value, if step < 1e-3 { 2 } else { 1 });
    histogram(&returns, &words, &text, (sd > 0.0).then_some((mean, sd)))
}

type Label<'a> = &'a dyn Fn(f64, f64) -> String;

fn histogram(values: &[f64], words: &Words, label: Label<'_>, normal: Option<(f64, f64)>) -> Option<Markup> {
    if values.len() < VALUES_MIN {
        return None;
    }
    Some(both((FULL, 230.0), (NARROW, 210.0), |size| {
        let (step, counts) = binned(values, if size.narrow { 17 } else { 40 });
        let curve = normal.map(|(mean, sd)| {
            let scale = values.len() as f64 * step / (sd * (2.0 * std::f64::consts::PI).sqrt());
            move |x: f64| scale * (-0.5 * ((x - mean) / sd).powi(2)).exp()
        });
        draw(size, step, &counts, words, label, curve)
    }))
}

/// A round bin width, and (index of the bin, count); bin k spans k·step to (k + 1)·step, so that no bin mixes gains
/// with losses.
fn binned(values: &[f64], bins: usize) -> (f64, Vec<(i64, usize)>) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rough = ((high - low) / bins as f64).max(1e-9);
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|m| m * power >= rough).unwrap_or(10.0);
    let step = times * power;
    // Losses end below zero: what came out even is no gain, but has to be somewhere.
    let mut found: Vec<i64> = values.iter().map(|value| (value / step).floor() as i64).collect();
    found.sort_unstable();
    let counts = found.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
    (step, counts)
}

fn draw(
    size: Size,
    step: f64,
    counts: &[(i64, usize)],
    words: &Words,
    label: Label<'_>,
    curve: Option<impl Fn(f64) -> f64>,
) -> maud::PreEscaped<String> {
    let mut svg = Svg::new(size);
    let first = counts.first().map_or(0, |bin| bin.0).min(0);
    let last = counts.last().map_or(0, |bin| bin.0 + 1).max(1);
    let most = counts.iter().map(|bin| bin.1).max().unwrap_or(1) as f64;
    let x = (first as f64 * step, last as f64 * step);
    let places: Vec<f64> = (0..=120).map(|k| x.0 + (x.1 - x.0) * f64::from(k) / 120.0).collect();
    let normal: Vec<(f64, f64)> = curve.iter().flat_map(|of| places.iter().map(|&x| (x, of(x)))).collect();
    let top = normal.iter().fold(most, |top, p| top.max(p.1));
    let panel = Panel::across(size, 22.0, size.height - 66.0, x, (0.0, top * 1.05));
    panel.heading(&mut svg, words.heading);
    panel.y_axis(&mut svg, |value, decimals| if decimals == 0 { decimal(value, 0) } else { String::new() });
    for &(bin, count) in counts {
        let (left, right) = (panel.px(bin as f64 * step), panel.px((bin + 1) as f64 * step));
        let top = panel.py(count as f64);
        let class = if bin < 0 { "loss" } else { "gain" };
        let amount = |k: i64| label(k as f64 * step, step);
        let title = format!("{} to {}: {}", amount(bin), amount(bin + 1), integer(count as i128));
        svg.rect(class, (left + 0.5, top), ((right - left - 1.0).max(1.0), panel.bottom() - top), &title);
    }
    svg.path("normal", &panel.to_pixels(&normal));
    for tick in crate::scale::round_ticks(x.0, x.1, if size.narrow { 3 } else { 9 }) {
        let text = signed(label(tick, step));
        // The last tick may stand at the edge of the drawing, and half its text beyond.
        let half = text_width(&text) / 2.0;
        let at = panel.px(tick).clamp(half, size.width - half);
        svg.text("tick", (at, panel.bottom() + 16.0), Anchor::Middle, &text);
    }
    let middle = (panel.left() + panel.right()) / 2.0;
    svg.text("tick", (middle, panel.bottom() + 34.0), Anchor::Middle, &words.axis);
    panel.level(&mut svg, "zero", 0.0);
    svg.finish(&words.label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_do_not_mix_gains_with_losses() {
        let (step, counts) = binned(&[-15.0, -0.5, 0.0, 0.5, 14.0, 85.0], 10);
        assert_eq!(step, 10.0);
        assert_eq!(counts, [(-2, 1), (-1, 1), (0, 2), (1, 1), (8, 1)]);
        let (_, counts) = binned(&[3.0; 6], 10);
        assert_eq!(counts.iter().map(|bin| bin.1).sum::<usize>(), 6);
    }
}
