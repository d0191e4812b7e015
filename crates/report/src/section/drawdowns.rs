//! The deepest drawdown on closes beside that within bars.

use foxhunt_metrics::{Drawdown, drawdown_closes, drawdown_worst};
use maud::{Markup, html};

use crate::calendar::date_time;
use crate::format::percent;
use crate::view::{MemberView, View};

/// Depth, start, trough and recovery of both kinds, of the shown member and of the baselines.
pub(crate) fn drawdowns(agent: &View<'_>, baselines: &[View<'_>]) -> Markup {
    let shown: Vec<(String, &MemberView)> = std::iter::once((agent.shown().label.clone(), agent.shown()))
        .chain(baselines.iter().map(|view| (view.name.clone(), view.shown())))
        .collect();
    html! {
        section #drawdowns {
            h2 { "Deepest drawdown" }
            div.scroll {
                table.figures {
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
