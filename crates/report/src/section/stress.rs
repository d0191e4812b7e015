//! The same policy where the market is dearer, slower or thinner.

use foxhunt_metrics::{Metric, over_members};
use maud::{Markup, html};

use super::Notes;
use crate::view::{StressView, View};

/// Key and heading of each column.
const COLUMNS: [(&str, &str); 5] = [
    ("total_return", "total return"),
    ("sharpe_days", "Sharpe, per day"),
    ("max_drawdown_worst", "drawdown within bars"),
    ("turnover", "turnover per year"),
    ("cost_share", "costs over equity"),
];

/// The table, and the break-even cost; nothing without lines.
pub(crate) fn stress(agent: &View<'_>, lines: &[StressView<'_>]) -> Option<Markup> {
    if lines.is_empty() {
        return None;
    }
    let mut notes = Notes::default();
    let break_even = agent.central("break_even_bp");
    Some(html! {
        section #stress {
            h2 { "Stress" }
            div.scroll {
                table.figures data-sort {
                    thead { tr { th { "" } @for (_, heading) in COLUMNS { th.number { (heading) } } } }
                    tbody { @for line in lines { (row(line, &mut notes)) } }
                }
            }
            (notes.list())
            @if agent.members.len() > 1 {
                p.notes { "Means over " (agent.members.len()) " members, and lowest … highest." }
            }
            p.notes {
                "Costs × k and equity × k are " b { "run again in a closed loop" }
                ": the policy sees the account that these costs or this size lead to and decides anew, bar by bar. Costs are "
                "spread (of quotes the whole distance of bid and ask, about the same mids), fees, impact, financing and penalty; what "
                "an account receives is not multiplied, and what is left at × 0 is the rounding of prices. One bar of delay "
                "carries out the " b { "recorded decisions" }
                " one bar late. Larger equity meets the same volume: impact and the participation cap tell of capacity."
            }
            p.notes {
                "Break-even: "
                @match break_even {
                    Some(Metric::Value(value)) => b { (agent.units.metric(value, foxhunt_metrics::Unit::BasisPoints)) },
                    Some(Metric::Undefined(reason)) => { "undefined, since " (reason.to_string()) },
                    None => "undefined",
                }
                " of traded notional for spread, impact and fees would have left no gain and no loss, at the "
                b { "recorded trades" } ": below 0 they lost even without these three, financing paid."
            }
        }
    })
}

fn row(stress: &StressView<'_>, notes: &mut Notes) -> Markup {
    html! {
        tr {
            th scope="row" {
                (stress.line.label) @if !stress.line.again { span.quiet { " (recorded)" } }
                @if let Some(words) = stress.view.as_ref().ok().and_then(|view| view.ruin()) { br; span.ruined { (words) } }
            }
            @match &stress.view {
                Ok(view) => @for (key, _) in COLUMNS { td.number { (cell(view, key, notes)) } },
                Err(problem) => td colspan=(COLUMNS.len()) { "not run: " (problem) },
            }
        }
    }
}

fn cell(view: &View<'_>, key: &str, notes: &mut Notes) -> Markup {
    let named = view.shown().summary.iter().find(|named| named.key == key);
    let unit = named.map_or(foxhunt_metrics::Unit::Ratio, |named| named.unit);
    html! {
        @match view.central(key) {
            Some(Metric::Value(value)) => (view.units.metric(value, unit)),
            Some(Metric::Undefined(reason)) => (notes.undefined(reason)),
            None => "",
        }
        @if let Ok(spread) = over_members(&view.figures(key)) {
            br; span.quiet.range { (view.units.metric(spread.min, unit)) " … " (view.units.metric(spread.max, unit)) }
        }
    }
}
