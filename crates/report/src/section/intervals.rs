//! How sure one may be: over time, and over members, never merged.

use foxhunt_metrics::{
    Metric, TimeInterval, Undefined, Unit, over_members, time_interval_keys, time_intervals,
};
use maud::{Markup, html};

use super::Notes;
use crate::format::integer;
use crate::view::{Accounts, MemberView};

/// The two kinds of interval in two tables side by side.
pub(crate) fn intervals(agent: &Accounts) -> Markup {
    let mut notes = Notes::default();
    let shown = agent.shown();
    let (seed, many) = (agent.seed, agent.members.len() > 1);
    html! {
        section id=[agent.id("uncertainty")] {
            h2 { "Uncertainty" }
            @if many {
                p {
                    "Two different questions, so two tables. " b { "Over time" } ": how would " (shown.label)
                    " have done on other stretches of the same market? " b { "Over members" }
                    ": how would another seed have done on this stretch? Neither says anything about the other."
                }
            } @else {
                p {
                    b { "Over time" } ": how would " (shown.label) " have done on other stretches of the same market? There is one "
                    "account here, so that nothing can be said of other seeds on this stretch."
                }
            }
            div.pair[many] {
                div.scroll {
                    table.figures {
                        caption { "Over time: " (shown.label) ", 95 % interval of a stationary block bootstrap" }
                        thead { tr { th { "" } th.number { "value" } th.number { "low" } th.number { "high" } th.number { "block" } } }
                        tbody {
                            @for row in &time_intervals(&shown.series, seed) { (time_row(agent, shown, row, &mut notes)) }
                        }
                    }
                }
                @if many { div.scroll {
                    table.figures {
                        caption { "Over members: mean with Student’s 95 % interval" }
                        thead { tr { th { "" } th.number { "mean" } th.number { "low" } th.number { "high" } th.number { "sd" } } }
                        tbody {
                            @for key in time_interval_keys() { (member_row(agent, shown, key, &mut notes)) }
                        }
                    }
                } }
            }
            (notes.list())
            p.notes {
                "Block is the mean length of a resampled block, in days or bars. "
                "The choice of this run was made among " (integer(agent.trials.into()))
                @if agent.trials == 1 { " trial" } @else { " trials" }
                "; " @if many { "neither" } @else { "no" } " interval corrects for that, the deflated Sharpe ratio of the summary does."
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

fn time_row(agent: &Accounts, shown: &MemberView, row: &TimeInterval, notes: &mut Notes) -> Markup {
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
