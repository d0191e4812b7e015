//! What round trips came to: a histogram of their net gains.

use maud::Markup;

use super::panel::Panel;
use super::{FULL, NARROW, both};
use crate::format::{decimal, integer, signed};
use crate::svg::{Anchor, Size, Svg};
use crate::view::View;

/// A histogram of the shown member's round trips, in the account's currency. None under five trips.
pub(crate) fn trips(view: &View<'_>) -> Option<Markup> {
    let nets: Vec<f64> =
        view.shown().series.trips.iter().map(|trip| view.units.amount(trip.net as f64)).collect();
    if nets.len() < 5 {
        return None;
    }
    Some(both((FULL, 230.0), (NARROW, 210.0), |size| {
        let (step, counts) = binned(&nets, if size.narrow { 17 } else { 40 });
        draw(size, step, &counts, &view.units.currency)
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
    // Losses end below zero: a trip that came out even is no gain, but has to be somewhere.
    let mut found: Vec<i64> = values.iter().map(|value| (value / step).floor() as i64).collect();
    found.sort_unstable();
    let counts = found.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
    (step, counts)
}

fn draw(size: Size, step: f64, counts: &[(i64, usize)], currency: &str) -> maud::PreEscaped<String> {
    let mut svg = Svg::new(size);
    let first = counts.first().map_or(0, |bin| bin.0).min(0);
    let last = counts.last().map_or(0, |bin| bin.0 + 1).max(1);
    let most = counts.iter().map(|bin| bin.1).max().unwrap_or(1);
    let x = (first as f64 * step, last as f64 * step);
    let panel = Panel::across(size, 22.0, size.height - 66.0, x, (0.0, most as f64 * 1.05));
    panel.heading(&mut svg, "Round trips");
    panel.y_axis(&mut svg, |value, decimals| if decimals == 0 { decimal(value, 0) } else { String::new() });
    for &(bin, count) in counts {
        let (left, right) = (panel.px(bin as f64 * step), panel.px((bin + 1) as f64 * step));
        let top = panel.py(count as f64);
        let class = if bin < 0 { "loss" } else { "gain" };
        let amount = |k: i64| decimal(k as f64 * step, if step < 1.0 { 2 } else { 0 });
        let title = format!("{} to {} {currency}: {}", amount(bin), amount(bin + 1), integer(count as i128));
        svg.rect(class, (left + 0.5, top), ((right - left - 1.0).max(1.0), panel.bottom() - top), &title);
    }
    for tick in crate::scale::round_ticks(x.0, x.1, if size.narrow { 3 } else { 9 }) {
        let label = signed(decimal(tick, if step < 1.0 { 2 } else { 0 }));
        svg.text("tick", (panel.px(tick), panel.bottom() + 16.0), Anchor::Middle, &label);
    }
    let middle = (panel.left() + panel.right()) / 2.0;
    let text = format!("net gain of a round trip, {currency}");
    svg.text("tick", (middle, panel.bottom() + 34.0), Anchor::Middle, &text);
    panel.level(&mut svg, "zero", 0.0);
    svg.finish("How the net gains of round trips are distributed")
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
