//! How sure one may be: over time, and over members, never merged.

use foxhunt_metrics::{
    Bootstrap, Interval, Metric, Undefined, Unit, days_per_year, over_members, over_time, periods_per_year,
    sharpe_of, sortino_of, total_return_of,
};
use maud::{Markup, html};

use super::Notes;
use crate::view::{Accounts, MemberView};

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
pub(crate) fn intervals(agent: &Accounts) -> Markup {
    let mut notes = Notes::default();
    let shown = agent.shown();
    let seed = agent.seed;
    html! {
        section id=[agent.id("uncertainty")] {
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
                            @for row in &over_time_rows(shown, seed) { (time_row(agent, shown, row, &mut notes)) }
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
                "The choice of this run was made among " (agent.trials)
                @if agent.trials == 1 { " trial" } @else { " trials" }
                "; neither interval corrects for that, the deflated Sharpe ratio of the summary does."
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

/// A figure of one member with its interval over time, and whether it is of days.
pub(crate) struct TimeRow {
    pub(crate) key: &'static str,
    pub(crate) of_days: bool,
    pub(crate) interval: Result<Interval, Undefined>,
}

/// The intervals over time of one member.
pub(crate) fn over_time_rows(member: &MemberView, seed: u64) -> Vec<TimeRow> {
    ROWS.iter()
        .map(|&(key, of_days, statistic)| {
            let (returns, per_year) = if of_days {
                (member.series.day_returns(), days_per_year(&member.series))
            } else {
                (member.series.returns(), periods_per_year(&member.series))
            };
            let interval = returns.and_then(|returns| {
                let draws = (TOUCHED_MAX / returns.len().max(1)).clamp(200, 2_000);
                let how = Bootstrap { draws: draws as u32, seed, ..Bootstrap::default() };
                let per_year = per_year.value().unwrap_or(1.0);
                over_time(&returns, |sample| statistic(sample, per_year), &how)
            });
            TimeRow { key, of_days, interval }
        })
        .collect()
}

fn time_row(agent: &Accounts, shown: &MemberView, row: &TimeRow, notes: &mut Notes) -> Markup {
    let (label, unit, metric) = label_unit(shown, row.key);
    html! {
        tr {
            th scope="row" { (label) }
            td.number { (value_or_note(agent, metric, unit, notes)) }
            @match row.interval {
                Ok(interval) => {
                    td.number { (agent.units.metric(interval.low, unit)) }
                    td.number { (agent.units.metric(interval.high, unit)) }
                    td.number.quiet {
                        (format!("{:.0}", interval.mean_block)) @if row.of_days { " d" } @else { " bars" }
                    }
                }
                Err(reason) => td.number colspan="3" { (notes.undefined(reason)) },
            }
        }
    }
}

fn member_row(agent: &Accounts, shown: &MemberView, key: &str, notes: &mut Notes) -> Markup {
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

fn value_or_note(agent: &Accounts, metric: Metric, unit: Unit, notes: &mut Notes) -> Markup {
    match metric {
        Metric::Value(value) => html! { (agent.units.metric(value, unit)) },
        Metric::Undefined(reason) => notes.undefined(reason),
    }
}
