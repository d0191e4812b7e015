//! The same policy where the market is dearer, slower or thinner.

use foxhunt_metrics::{Metric, over_members};
use maud::{Markup, html};

use super::Notes;
use crate::view::{Accounts, StressView, View};

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
    let shown =
        lines.iter().map(|l| (l.line.label.as_str(), l.line.again, l.view.as_deref().map_err(|e| *e)));
    let break_even = agent.central("break_even_bp");
    Some(html! {
        section #stress {
            h2 { "Stress" }
            (table(shown))
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

/// A line: its name, whether the policy decided again, and its accounts or why there are none.
pub(crate) type Line<'a> = (&'a str, bool, Result<&'a Accounts, &'a str>);

/// The lines below one another, with notes on what is undefined.
pub(crate) fn table<'a>(lines: impl Iterator<Item = Line<'a>>) -> Markup {
    let mut notes = Notes::default();
    html! {
        div.scroll {
            table.figures data-sort {
                thead { tr { th { "" } @for (_, heading) in COLUMNS { th.number { (heading) } } } }
                tbody { @for line in lines { (row(line, &mut notes)) } }
            }
        }
        (notes.list())
    }
}

fn row((label, again, view): Line<'_>, notes: &mut Notes) -> Markup {
    html! {
        tr {
            th scope="row" {
                (label) @if !again { span.quiet { " (recorded)" } }
                @if let Some(words) = view.ok().and_then(Accounts::ruin) { br; span.ruined { (words) } }
            }
            @match view {
                Ok(view) => @for (key, _) in COLUMNS { td.number { (cell(view, key, notes)) } },
                Err(problem) => td colspan=(COLUMNS.len()) { "not run: " (problem) },
            }
        }
    }
}

fn cell(view: &Accounts, key: &str, notes: &mut Notes) -> Markup {
    let named = view.shown().summary.iter().find(|named| named.key == key);
    let unit = named.map_or(foxhunt_metrics::Unit::Ratio, |named| named.unit);
    html! {
        @match view.central(key) {
            Some(Metric::Value(value)) => {
                (view.units.metric(value, unit))
                (notes.partial(&view.figures(key)))
            },
            Some(Metric::Undefined(reason)) => (notes.undefined(reason)),
            None => "",
        }
        @if let Ok(spread) = over_members(&view.figures(key)) {
            br; span.quiet.range { (view.units.metric(spread.min, unit)) " … " (view.units.metric(spread.max, unit)) }
        }
    }
}
