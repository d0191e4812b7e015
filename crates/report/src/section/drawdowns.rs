//! The worst drawdowns of the shown member, and the deepest of each strategy on closes beside that within bars.

use foxhunt_metrics::{Drawdown, drawdown_closes, drawdown_worst, drawdowns as all_of};
use maud::{Markup, html};

use crate::calendar::{DAY_NS, date_time};
use crate::format::{decimal, percent};
use crate::view::{Accounts, MemberView};

/// How many drawdowns the first table lists.
pub(crate) const WORST: usize = 5;

/// Both tables.
pub(crate) fn drawdowns(agent: &Accounts, baselines: &[impl AsRef<Accounts>]) -> Markup {
    let shown: Vec<(String, &MemberView)> = std::iter::once((agent.shown().label.clone(), agent.shown()))
        .chain(baselines.iter().map(|view| (view.as_ref().name.clone(), view.as_ref().shown())))
        .collect();
    html! {
        section id=[agent.id("drawdowns")] {
            h2 { "Drawdowns" }
            (worst(agent.shown()))
            div.scroll {
                table.figures {
                    caption { "Deepest drawdown of each strategy, on closes and within bars" }
                    thead {
                        tr {
                            th { "" } th.number { "on closes" } th { "from" } th { "to" } th { "recovered" }
                            th.number { "within bars" } th { "from" } th { "to" } th { "recovered" }
                        }
                    }
                    tbody {
                        @for (name, member) in &shown {
                            tr {
                                th scope="row" { (name) }
                                (cells(drawdown_closes(&member.series)))
                                (cells(drawdown_worst(&member.series)))
                            }
                        }
                    }
                }
            }
            p.notes {
                "Relative to the highest close so far. Within bars means at the price of each bar that was worst for the "
                "position. Times are UTC."
            }
        }
    }
}

fn worst(member: &MemberView) -> Markup {
    let found = all_of(&member.series);
    let end = member.series.time_ns.last().copied().unwrap_or(0);
    let days = |ns: i64| decimal(ns as f64 / DAY_NS as f64, 1);
    html! {
        div.scroll.worst {
            table.figures data-sort {
                caption { "The worst " (WORST.min(found.len())) " of " (found.len()) " drawdowns of " b { (member.label) } ", on closes" }
                thead {
                    tr {
                        th.number { "depth" } th { "began" } th { "trough" } th { "recovered" }
                        th.number { "days to trough" } th.number { "days in all" }
                    }
                }
                tbody {
                    @for d in found.iter().take(WORST) {
                        tr {
                            td.number { (percent(d.depth, 2)) }
                            td data-v=(d.start_ns) { (date_time(d.start_ns)) }
                            td data-v=(d.trough_ns) { (date_time(d.trough_ns)) }
                            td data-v=(d.recovery_ns.unwrap_or(i64::MAX)) {
                                @match d.recovery_ns { Some(ns) => (date_time(ns)), None => "not yet" }
                            }
                            td.number { (days(d.trough_ns - d.start_ns)) }
                            td.number { (days(d.recovery_ns.unwrap_or(end) - d.start_ns)) @if d.recovery_ns.is_none() { " so far" } }
                        }
                    }
                    @if found.is_empty() { tr { td.quiet colspan="6" { "Equity never fell below an earlier peak." } } }
                }
            }
        }
    }
}

fn cells(drawdown: Option<Drawdown>) -> Markup {
    html! {
        @match drawdown {
            Some(found) => {
                td.number { (percent(found.depth, 2)) }
                td.quiet { (date_time(found.start_ns)) }
                td.quiet { (date_time(found.trough_ns)) }
                td.quiet { @match found.recovery_ns { Some(ns) => (date_time(ns)), None => "not yet" } }
            }
            None => td.quiet colspan="4" { "equity never fell below an earlier peak" },
        }
    }
}
