//! The folds of a walk-forward run: their windows, and what was chosen in each.

use foxhunt_metrics::{Metric, Unit, over_members, time_interval};
use maud::{Markup, html};

use super::Notes;
use crate::calendar::Date;
use crate::format::ruin;
use crate::view::PartView;

/// Key and heading of each figure.
pub(crate) const COLUMNS: [(&str, &str); 5] = [
    ("total_return", "total return"),
    ("sharpe_bars", "Sharpe, per bar"),
    ("max_drawdown_worst", "drawdown within bars"),
    ("turnover", "turnover per year"),
    ("trip_count", "round trips"),
];

/// The table; nothing without folds.
pub(crate) fn folds(folds: &[PartView<'_>]) -> Option<Markup> {
    if folds.is_empty() {
        return None;
    }
    let mut notes = Notes::default();
    Some(html! {
        section #folds {
            h2 { "Folds" }
            div.scroll {
                table.figures.parts {
                    thead { tr {
                        th { "fold" } th { (WINDOWS) } th { "chosen" }
                        @for (_, heading) in COLUMNS { th.number { (heading) } }
                    } }
                    tbody {
                        @for (number, fold) in folds.iter().enumerate() {
                            tr {
                                th scope="row" { a href=(fold.line.page) { (number) } }
                                td.quiet { (windows(fold)) }
                                td { (chosen(fold)) }
                                @for (key, _) in COLUMNS { td.number { (cell(fold, key, &mut notes)) } }
                            }
                        }
                        @if folds.len() > 1 {
                            tr.total {
                                th scope="row" { "mean" }
                                td {} td {}
                                @for (key, _) in COLUMNS { td.number { (mean_cell(folds, key)) } }
                            }
                        }
                    }
                }
            }
            (notes.list())
            p.notes { (SMALL) " The last row is the mean over folds with Student’s 95 % interval." }
            p.notes {
                "Each fold learns on its training window alone; the validation window chooses member and epoch; its test window is "
                "read once, by an account of its own. What this page shows "
                "otherwise is " b { "one account through all test windows" } ", which carries out the decisions that each fold’s "
                "chosen member made on its own window. It keeps its position from one window to the next, and is flat in between "
                "where they do not touch."
            }
        }
    })
}

/// What was chosen, and who was ruined: the chosen one, and of all members.
pub(crate) fn chosen(part: &PartView<'_>) -> Markup {
    let own = ruin([part.chosen().ruined]);
    html! {
        (part.line.chosen)
        @if let Some(words) = own { br; span.ruined { (words) } }
        @if part.view.members.len() > 1 {
            @if let Some(words) = part.view.ruin() { br; span.quiet.range { "members: " (words) } }
        }
    }
}

/// What [`windows`] shows.
pub(crate) const WINDOWS: &str = "training, validation, test";

/// First and last day of each window, one below the other; a dash where there is none.
pub(crate) fn windows(part: &PartView<'_>) -> Markup {
    let days = |[from, to]: [i64; 2]| format!("{} – {}", Date::of_ns(from).text(), Date::of_ns(to).text());
    let line = part.line;
    let all = [line.train, line.validation, Some(line.test)].map(|of| of.map_or_else(|| "–".into(), days));
    html! { @for (k, text) in all.iter().enumerate() { @if k > 0 { br; } span.day { (text) } } }
}

/// From the one to the other.
fn between(part: &PartView<'_>, unit: Unit, (low, high): (f64, f64)) -> String {
    format!("{} … {}", part.view.units.metric(low, unit), part.view.units.metric(high, unit))
}

/// What the small figures of a cell are.
pub(crate) const SMALL: &str = "Below a figure stands its 95 % interval over time, by a stationary block bootstrap, where it has one; \
                                in grey, lowest … highest of the members.";

/// The mean over parts of what was chosen in each, with Student's interval; nothing where fewer than two have the figure.
pub(crate) fn mean_cell(parts: &[PartView<'_>], key: &str) -> Markup {
    let of = |part: &PartView<'_>| part.chosen().summary.iter().find(|named| named.key == key).copied();
    let named: Vec<_> = parts.iter().filter_map(of).collect();
    let figures: Vec<Metric> = named.iter().map(|named| named.metric).collect();
    let (Some(first), Some(one)) = (parts.first(), named.first()) else { return html! {} };
    html! {
        @if let Ok(spread) = over_members(&figures) {
            (first.view.units.metric(spread.mean, one.unit))
            br; span.interval { (between(first, one.unit, (spread.low, spread.high))) }
        }
    }
}

/// A figure of the chosen member with its interval over time, and what it is from the lowest to the highest of all.
pub(crate) fn cell(part: &PartView<'_>, key: &str, notes: &mut Notes) -> Markup {
    let named = part.chosen().summary.iter().find(|named| named.key == key);
    let unit = named.map_or(Unit::Ratio, |named| named.unit);
    html! {
        @match named.map(|named| named.metric) {
            Some(Metric::Value(value)) => (part.view.units.metric(value, unit)),
            Some(Metric::Undefined(reason)) => (notes.undefined(reason)),
            None => "",
        }
        @if let Some(interval) = time_interval(&part.chosen().series, key, part.view.seed).and_then(|i| i.interval.ok()) {
            br; span.interval { (between(part, unit, (interval.low, interval.high))) }
        }
        @if let Ok(spread) = over_members(&part.view.figures(key)) {
            br; span.quiet.range { (between(part, unit, (spread.min, spread.max))) }
        }
    }
}
