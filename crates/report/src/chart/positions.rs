//! Price with fills, and the position below it.

use foxhunt_ledger::{BarRow, FillRow};
use maud::Markup;

use super::panel::{Panel, extent};
use super::plot::{Format, Plot, geometry};
use super::{FULL, NARROW, both};
use crate::format::{axis_number, grouped};
use crate::sample::min_max;
use crate::scale::with_room;
use crate::svg::{Size, Svg};
use crate::view::View;

/// The whole window of the shown member, in time. Where fills of one side crowd, one stands for its neighbours within
/// four pixels.
pub(crate) fn positions(view: &View<'_>) -> Markup {
    let rows = view.shown_bars();
    let fills = view.shown_fills();
    let x = match (rows.first(), rows.last()) {
        (Some(first), Some(last)) => (first.time_ns as f64, last.time_ns as f64),
        _ => (0.0, 1.0),
    };
    let places: Vec<f64> = rows.iter().map(|row| row.time_ns as f64).collect();
    let lines = Lines::new(view, rows, fills, &places);
    let (_, decimals) = view.units.price_digits();
    let mut plot = Plot::new(vec![
        Format { factor: 1.0, decimals, after: String::new(), zero: false },
        Format { factor: 1.0, decimals: 0, after: " lots".into(), zero: true },
    ]);
    let tags = [
        plot.add("close", "key-price", 0, &lines.closes),
        plot.add_marks(0, &lines.bought),
        plot.add_marks(0, &lines.sold),
        plot.add("position", "key-long", 1, &lines.held),
    ];
    let chart = both((FULL, 430.0), (NARROW, 380.0), |size| {
        let mut svg = Svg::new(size);
        let (price, lots) = draw(&mut svg, view, size, &lines, x, Some(tags));
        price.date_lines(&mut svg);
        lots.dates(&mut svg);
        svg.over_time(geometry(&[&price, &lots]));
        svg.finish("Price with fills, and the position held below it")
    });
    plot.around(&chart)
}

/// What is drawn of the shown member, over given places of the rows on the x axis.
pub(super) struct Lines {
    closes: Vec<(f64, f64)>,
    bought: Vec<(f64, f64)>,
    sold: Vec<(f64, f64)>,
    held: Vec<(f64, f64)>,
}

impl Lines {
    pub(super) fn new(view: &View<'_>, rows: &[BarRow], fills: &[FillRow], places: &[f64]) -> Self {
        let value = |price: i32| view.units.price_value(f64::from(price));
        let marks = |long: bool| -> Vec<(f64, f64)> {
            let of_side = fills.iter().filter(|fill| (fill.lots > 0) == long);
            let place = |fill: &FillRow| {
                let at = rows.binary_search_by_key(&fill.bar, |row| row.bar).ok()?;
                Some((*places.get(at)?, value(fill.price)))
            };
            of_side.filter_map(place).collect()
        };
        Self {
            closes: places.iter().zip(rows).map(|(&x, row)| (x, value(row.close))).collect(),
            bought: marks(true),
            sold: marks(false),
            held: places.iter().zip(rows).map(|(&x, row)| (x, f64::from(row.position))).collect(),
        }
    }
}

/// Price, fills and position; returns the two panels for their dates. `tags` are the plot's lines: price, bought, sold, held.
pub(super) fn draw(
    svg: &mut Svg,
    view: &View<'_>,
    size: Size,
    Lines { closes, bought, sold, held }: &Lines,
    x: (f64, f64),
    tags: Option<[usize; 4]>,
) -> (Panel, Panel) {
    let tag = |svg: &mut Svg, k: usize, kind: &str| {
        if let Some(tags) = tags {
            svg.tag(tags[k], kind);
        }
    };
    let (low, high) = extent([closes, bought, sold]);
    let upper_height = if size.narrow { 210.0 } else { 260.0 };
    let price = Panel::across(size, 22.0, upper_height, x, with_room(low, high));
    let top = price.bottom() + 34.0;
    let (low, high) = extent([held]);
    let y = with_room(low.min(0.0), high.max(0.0));
    let lots = Panel::across(size, top, size.height - top - 26.0, x, y);

    let lot = &view.ledger.header.lot;
    let unit = if lot.bytes().all(|b| b.is_ascii_digit()) { grouped(lot) } else { lot.clone() };
    price.heading(svg, &format!("{} with fills, {}", view.ledger.header.instrument, view.units.currency));
    price.y_numbers(svg);
    tag(svg, 0, "line");
    svg.path("price", &price.to_pixels(&min_max(closes, price.buckets())));
    let side = if size.narrow { 6.0 } else { 7.0 };
    tag(svg, 1, "up");
    svg.triangles("buy", &thinned(&price.to_pixels(bought)), true, side);
    tag(svg, 2, "down");
    svg.triangles("sell", &thinned(&price.to_pixels(sold)), false, side);

    lots.heading(svg, &format!("Position, lots of {unit}"));
    lots.y_axis(svg, |value, decimals| axis_number(value, decimals, size.narrow));
    let steps = lots.to_pixels(&stepped(&min_max(held, lots.buckets())));
    let zero = lots.py(0.0);
    for (class, keep) in [("long", f64::min as fn(f64, f64) -> f64), ("short", f64::max)] {
        // Pixels grow downwards: what is above zero is the smaller.
        let mut side: Vec<(f64, f64)> = steps.iter().map(|&(x, y)| (x, keep(y, zero))).collect();
        if let (Some(first), Some(last)) = (side.first().copied(), side.last().copied()) {
            side.insert(0, (first.0, zero));
            side.push((last.0, zero));
        }
        tag(svg, 3, class);
        svg.area(class, &side);
    }
    tag(svg, 3, "step");
    svg.path("held", &steps);
    lots.level(svg, "zero", 0.0);
    (price, lots)
}

/// A row's position was reached within its bar: the step is at the end of the bar before.
fn stepped(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out = Vec::with_capacity(2 * points.len());
    for (k, &(x, y)) in points.iter().enumerate() {
        if let Some(&(before, _)) = k.checked_sub(1).and_then(|k| points.get(k)) {
            out.push((before, y));
        }
        out.push((x, y));
    }
    out
}

/// Drops marks within four pixels, either way, of one that was kept.
fn thinned(tips: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for &(x, y) in tips {
        let near = kept.iter().rev().take_while(|k| x - k.0 < 4.0).any(|k| (y - k.1).abs() < 4.0);
        if !near {
            kept.push((x, y));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_crowds() {
        assert_eq!(stepped(&[(0.0, 1.0), (1.0, 2.0)]), [(0.0, 1.0), (0.0, 2.0), (1.0, 2.0)]);
        let tips = [(0.0, 0.0), (1.0, 1.0), (2.0, 9.0), (4.5, 0.0)];
        assert_eq!(thinned(&tips), [(0.0, 0.0), (2.0, 9.0), (4.5, 0.0)]);
    }
}
