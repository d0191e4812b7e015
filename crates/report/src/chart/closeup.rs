//! A few days bar by bar, where every fill can be seen.

use maud::Markup;

use super::{FULL, NARROW, both};
use crate::calendar::Date;
use crate::chart::positions::{Lines, draw};
use crate::svg::Svg;
use crate::view::View;

/// Bars of a close-up.
const BARS: usize = 160;

/// The stretch of the shown member with the most fills, one bar after another (gaps in time closed). None if the whole
/// window is hardly longer.
pub(crate) fn closeup(view: &View<'_>) -> Option<Markup> {
    let rows = view.shown_bars();
    let fills = view.shown_fills();
    if rows.len() < 2 * BARS || fills.is_empty() {
        return None;
    }
    let mut per_row = vec![0u32; rows.len()];
    for fill in fills {
        if let Ok(at) = rows.binary_search_by_key(&fill.bar, |row| row.bar) {
            per_row[at] += 1;
        }
    }
    // Earliest of the busiest, so that the choice does not depend on anything else.
    let mut count: u32 = per_row[..BARS].iter().sum();
    let (mut best, mut start) = (count, 0);
    for end in BARS..rows.len() {
        count = count + per_row[end] - per_row[end - BARS];
        if count > best {
            (best, start) = (count, end + 1 - BARS);
        }
    }
    let rows = rows.get(start..start + BARS)?;
    let (first, last) = (rows.first()?.bar, rows.last()?.bar);
    let from = fills.partition_point(|fill| fill.bar < first);
    let to = fills.partition_point(|fill| fill.bar <= last);
    let fills = fills.get(from..to)?;
    let places: Vec<f64> = (0..rows.len()).map(|k| k as f64).collect();

    let lines = Lines::new(view, rows, fills, &places);
    Some(both((FULL, 430.0), (NARROW, 380.0), |size| {
        let mut svg = Svg::new(size);
        let (price, lots) = draw(&mut svg, view, size, &lines, (0.0, BARS as f64 - 1.0), None);
        let mut free_from = f64::NEG_INFINITY;
        for k in 1..rows.len() {
            let (before, now) = (rows[k - 1].day, rows[k].day);
            let x = price.px(k as f64);
            let moved = if price.at_edge(k as f64) { 24.0 } else { 0.0 };
            if before != now && x >= free_from + moved {
                let date = Date::from_days(now.into());
                let label = format!("{} {}", date.day, date.month_name());
                price.date_line(&mut svg, k as f64);
                lots.date(&mut svg, k as f64, &label);
                free_from = x + 52.0;
            }
        }
        svg.finish("The busiest stretch bar by bar: price with fills, and the position held below it")
    }))
}
