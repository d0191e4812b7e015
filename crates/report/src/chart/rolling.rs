//! Sharpe ratio over a moving window of session days.

use foxhunt_metrics::{Undefined, rolling_sharpe};
use maud::Markup;

use super::panel::{Panel, extent};
use super::plot::{Format, Plot, geometry};
use super::{FULL, NARROW, both};
use crate::sample::min_max;
use crate::scale::with_room;
use crate::svg::Svg;
use crate::view::Accounts;

/// Days of a window: a quarter of a year where there are two of them, else a month.
pub(crate) fn rolling_window(view: &Accounts) -> usize {
    let days = view.shown().series.day_ends_ns().len();
    if days >= 126 { 63 } else { 21 }
}

/// The shown member and the baselines.
///
/// # Errors
///
/// Why the shown member has no moving Sharpe ratio.
pub(crate) fn rolling(agent: &Accounts, baselines: &[impl AsRef<Accounts>]) -> Result<Markup, Undefined> {
    let window = rolling_window(agent);
    let line = |view: &Accounts| -> Result<Vec<(f64, f64)>, Undefined> {
        let found = rolling_sharpe(&view.shown().series, window)?;
        Ok(found.into_iter().map(|(ns, value)| (ns as f64, value)).collect())
    };
    let shown = line(agent)?;
    if shown.is_empty() {
        return Err(Undefined::NoVariation);
    }
    let others: Vec<Vec<(f64, f64)>> =
        baselines.iter().map(|view| line(view.as_ref()).unwrap_or_default()).collect();
    let x = stretch(others.iter().chain([&shown]));
    let (low, high) = extent(others.iter().chain([&shown]));
    let y = with_room(low.min(0.0), high.max(0.0));

    let mut plot = Plot::new(vec![Format { factor: 1.0, decimals: 2, after: String::new(), zero: true }]);
    let tags: Vec<usize> = others
        .iter()
        .zip(baselines)
        .enumerate()
        .map(|(k, (line, view))| plot.add(&view.as_ref().name, &format!("key-baseline-{}", k % 4), 0, line))
        .collect();
    let own = plot.add(&agent.shown().label, "key-agent", 0, &shown);
    Ok(plot.around(&both((FULL, 240.0), (NARROW, 220.0), |size| {
        let mut svg = Svg::new(size);
        let panel = Panel::across(size, 22.0, size.height - 48.0, x, y);
        panel.heading(&mut svg, &format!("Sharpe, per year, of the last {window} session days"));
        panel.dates(&mut svg);
        panel.y_numbers(&mut svg);
        panel.level(&mut svg, "zero", 0.0);
        for (k, (line, &tag)) in others.iter().zip(&tags).enumerate() {
            svg.tag(tag, "line");
            svg.path(
                &format!("baseline baseline-{}", k % 4),
                &panel.to_pixels(&min_max(line, panel.buckets())),
            );
        }
        svg.tag(own, "line");
        svg.path("agent", &panel.to_pixels(&min_max(&shown, panel.buckets())));
        svg.over_time(geometry(&[&panel]));
        svg.finish("Sharpe ratio over a moving window of session days")
    })))
}

/// From the first point of any line to the last: an account that was ruined ends before the baselines do. Lines are in order.
fn stretch<'a>(lines: impl Iterator<Item = &'a Vec<(f64, f64)>>) -> (f64, f64) {
    let ends = lines.filter_map(|line| Some((line.first()?.0, line.last()?.0)));
    ends.fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| (all.0.min(one.0), all.1.max(one.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_room() {
        let lines = [vec![(3.0, 1.0), (5.0, 1.0)], vec![(2.0, 1.0), (9.0, 1.0)], vec![]];
        assert_eq!(stretch(lines.iter()), (2.0, 9.0));
    }
}
