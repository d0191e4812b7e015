//! How sure one may be: over time, and over members, never merged.

use foxhunt_metrics::{
    Bootstrap, Metric, Undefined, Unit, days_per_year, over_members, over_time, periods_per_year, sharpe_of,
    sortino_of, total_return_of,
};
use maud::{Markup, html};

use super::Notes;
use crate::view::{MemberView, View};

/// Resampled values that a bootstrap may touch, so that a year of minutes does not take minutes itself.
const TOUCHED_MAX: usize = 40_000_000;

type Statistic = fn(&[f64], f64) -> Metric;

/// Key, whether it is of days, and the statistic of resampled returns.
const ROWS: [(&str, bool, Statistic); 4] = [
    ("total_return", true, |returns, _| total_return_of(returns)),
    ("sharpe_days", true, sharpe_of),
    ("sharpe_bars", false, sharpe_of),
    ("sortino", false, sortino_of),
];

/// The two kinds of interval in two tables side by side.
pub(crate) fn intervals(agent: &View<'_>) -> Markup {
    let mut notes = Notes::default();
    let shown = agent.shown();
    let seed = agent.ledger.header.seed;
    html! {
        section #uncertainty {
            h2 { "Uncertainty" }
            p {
                "Two different questions, so two tables. " b { "Over time" } ": how would " (shown.label)
                " have done on other stretches of the same market? " b { "Over members" }
                ": how would another seed have done on this stretch? Neither says anything about the other."
            }
            div.pair {
                div.scroll {
                    table.figures {
                        caption { "Over time: " (shown.label) ", 95 % interval of a stationary block bootstrap" }
                        thead { tr { th { "" } th.number { "value" } th.number { "low" } th.number { "high" } th.number { "block" } } }
                        tbody {
                            @for (key, days, statistic) in ROWS { (time_row(agent, shown, key, days, statistic, seed, &mut notes)) }
                        }
                    }
                }
                div.scroll {
                    table.figures {
                        caption { "Over members: mean with Student’s 95 % interval" }
                        thead { tr { th { "" } th.number { "mean" } th.number { "low" } th.number { "high" } th.number { "sd" } } }
                        tbody {
                            @for (key, ..) in ROWS { (member_row(agent, shown, key, &mut notes)) }
                        }
                    }
                }
            }
            (notes.list())
            p.notes {
                "Block is the mean length of a resampled block, in days or bars. "
                "The choice of this run was made among " (agent.ledger.header.trials)
                @if agent.ledger.header.trials == 1 { " trial" } @else { " trials" }
                "; neither interval corrects for that."
            }
        }
    }
}

fn label_unit(member: &MemberView, key: &str) -> (&'static str, Unit, Metric) {
    let found = member.summary.iter().find(|named| named.key == key);
    found.map_or(("", Unit::Ratio, Metric::Undefined(Undefined::TooFew { have: 0, need: 1 })), |named| {
        (named.label, named.unit, named.metric)
    })
}

fn time_row(
    agent: &View<'_>,
    shown: &MemberView,
    key: &str,
    of_days: bool,
    statistic: Statistic,
    seed: u64,
    notes: &mut Notes,
) -> Markup {
    let (label, unit, metric) = label_unit(shown, key);
    let (returns, per_year) = if of_days {
        (shown.series.day_returns(), days_per_year(&shown.series))
    } else {
        (shown.series.returns(), periods_per_year(&shown.series))
    };
    let interval = returns.and_then(|returns| {
        let draws = (TOUCHED_MAX / returns.len().max(1)).clamp(200, 2_000);
        let how = Bootstrap { draws: draws as u32, seed, ..Bootstrap::default() };
        let per_year = per_year.value().unwrap_or(1.0);
        over_time(&returns, |sample| statistic(sample, per_year), &how)
    });
    html! {
        tr {
            th scope="row" { (label) }
            td.number { (value_or_note(agent, metric, unit, notes)) }
            @match interval {
                Ok(interval) => {
                    td.number { (agent.units.metric(interval.low, unit)) }
                    td.number { (agent.units.metric(interval.high, unit)) }
                    td.number.quiet { (format!("{:.0}", interval.mean_block)) @if of_days { " d" } @else { " bars" } }
                }
                Err(reason) => td.number colspan="3" { (notes.undefined(reason)) },
            }
        }
    }
}

fn member_row(agent: &View<'_>, shown: &MemberView, key: &str, notes: &mut Notes) -> Markup {
    let (label, unit, _) = label_unit(shown, key);
    html! {
        tr {
            th scope="row" { (label) }
            @match over_members(&agent.figures(key)) {
                Ok(spread) => {
                    td.number { (agent.units.metric(spread.mean, unit)) }
                    td.number { (agent.units.metric(spread.low, unit)) }
                    td.number { (agent.units.metric(spread.high, unit)) }
                    td.number { (agent.units.metric(spread.sd, unit)) }
                }
                Err(reason) => td.number colspan="4" { (notes.undefined(reason)) },
            }
        }
    }
}

fn value_or_note(agent: &View<'_>, metric: Metric, unit: Unit, notes: &mut Notes) -> Markup {
    match metric {
        Metric::Value(value) => html! { (agent.units.metric(value, unit)) },
        Metric::Undefined(reason) => notes.undefined(reason),
    }
}
