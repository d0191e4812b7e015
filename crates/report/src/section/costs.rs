//! Where the money went, to the unit.

use foxhunt_ledger::MemberAttribution;
use maud::{Markup, html};

use crate::chart::{Step, waterfall};
use crate::format::{percent, signed};
use crate::view::{Accounts, MemberView};

/// A line of the attribution: name, explanation, and its money units with gains positive.
type Line = (&'static str, &'static str, fn(&MemberAttribution) -> i128);

const LINES: [Line; 7] = [
    ("Positions held", "Σ position · ΔC: what positions earned from close to close", |m| m.held),
    (
        "Traded lots",
        "Σ x(C − C_t): what traded lots earned from the close of their decision to the close of their bar; stops and \
         liquidations count from their level",
        |m| m.traded + m.delay,
    ),
    (
        "Delay",
        "Σ x(C_t − reference): what the price gave or took between the decision and the reference price",
        |m| -m.delay,
    ),
    (
        "Half-spread",
        "What the half-spread cost, charged or quoted, and every rounding; of quotes reference prices above are mids, but of limits and \
         levels",
        |m| -m.spread,
    ),
    ("Market impact", "What orders moved the price by", |m| -m.impact),
    ("Fees", "Fees and penalties", |m| -m.fees),
    ("Financing", "Interest on positions held", |m| -m.financing),
];

/// More members than this share the page as the shown one only.
const COLUMNS_MAX: usize = 4;

/// The waterfall of the shown member and the exact table.
pub(crate) fn costs(agent: &Accounts, baselines: &[impl AsRef<Accounts>]) -> Markup {
    let shown = agent.shown();
    let amount = |units: i128| agent.units.amount(units as f64);
    let mut steps: Vec<Step> = LINES
        .iter()
        .map(|(label, _, of)| Step { label, amount: amount(of(&shown.lines)), total: false })
        .collect();
    steps.push(Step { label: "Change in equity", amount: amount(shown.lines.total()), total: true });
    let members: Vec<&MemberView> =
        if agent.members.len() <= COLUMNS_MAX { agent.members.iter().collect() } else { vec![shown] };
    let columns: Vec<(&Accounts, &MemberView, String)> = members
        .into_iter()
        .map(|member| (agent, member, member.label.clone()))
        .chain(baselines.iter().map(AsRef::as_ref).map(|view| (view, view.shown(), view.name.clone())))
        .collect();
    html! {
        section id=[agent.id("costs")] {
            h2 { "Costs and attribution" }
            figure {
                figcaption { "What the change in equity of " b { (shown.label) } " is made of, " (agent.units.currency) }
                (waterfall(&steps))
            }
            p.caption { "To the unit, in " (agent.units.currency) "; every column adds up without a remainder" }
            div.scroll {
                table.figures.exact {
                    thead { tr { th { "" } @for (_, _, name) in &columns { th.number { (name) } } } }
                    tbody {
                        @for (label, meaning, of) in LINES {
                            tr {
                                th scope="row" title=(meaning) { (label) }
                                @for (view, member, _) in &columns {
                                    td.number { (signed(view.units.money_exact(of(&member.lines)))) }
                                }
                            }
                        }
                        tr.total {
                            th scope="row" { "Change in equity" }
                            @for (view, member, _) in &columns {
                                td.number { (signed(view.units.money_exact(member.lines.total()))) }
                            }
                        }
                        tr {
                            th scope="row" { "Costs per traded notional" }
                            @for (_, member, _) in &columns { td.number.quiet { (per_notional(member)) } }
                        }
                    }
                }
            }
            dl.meanings {
                @for (label, meaning, _) in LINES { div { dt { (label) } dd { (meaning) } } }
            }
        }
    }
}

/// Spread, impact and fees over traded notional; financing is no cost of trading.
fn per_notional(member: &MemberView) -> String {
    let costs = member.lines.spread + member.lines.impact + member.lines.fees;
    match member.series.traded_notional {
        0 => "nothing traded".into(),
        notional => percent(costs as f64 / notional as f64, 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;
    use foxhunt_ledger::synth::Synth;

    #[test]
    fn the_printed_lines_add_up() {
        let ledger = Synth { bars: 800, ..Synth::default() }.ledger();
        for member in &View::new(&ledger).unwrap().members {
            let sum: i128 = LINES.iter().map(|(_, _, of)| of(&member.lines)).sum();
            assert_eq!(sum, i128::from(member.lines.end) - i128::from(member.lines.start));
            assert_ne!(member.lines.delay, 0);
        }
    }
}
