//! The details of single members: those of one are shown, and the page's script lets a reader pick another's.

use maud::{Markup, PreEscaped, html};

use crate::format::percent;
use crate::page::positions;
use crate::section;
use crate::view::{Accounts, Views};
use foxhunt_metrics::Metric;

/// Bytes that details of members beside the shown one may take together: what a page may grow by without getting slow to load.
const BESIDE_MAX: usize = 1_000_000;

/// The parts of the page that are of one member, for each member that has them there.
pub(crate) struct Details {
    /// Index of the member, its name alone and with what is said of it, and its parts; by index.
    members: Vec<(usize, [String; 2], [String; 2])>,
    shown: usize,
    /// Members that there are.
    all: usize,
}

/// Renders the shown member, and of the others as many as there is room for: the chosen one first, then the best and the worst by
/// final equity, then in order.
pub(crate) fn details(views: &mut Views<'_>, chosen: Option<u32>) -> Details {
    let agent = &views.agent;
    let (shown, all) = (agent.shown, agent.members.len());
    let chosen = chosen.map(|k| k as usize).filter(|k| *k < all);
    let by_equity = |k: &usize| (agent.members[*k].lines.end, *k);
    let (best, worst) = ((0..all).max_by_key(by_equity), (0..all).min_by_key(by_equity));
    let mut order = Vec::with_capacity(all);
    for k in [Some(shown), chosen, best, worst].into_iter().flatten().chain(0..all) {
        if !order.contains(&k) {
            order.push(k);
        }
    }
    let names: Vec<[String; 2]> =
        (0..all).map(|k| [agent.members[k].label.clone(), name(agent, k, chosen)]).collect();
    let mut members = Vec::new();
    let mut room = BESIDE_MAX;
    for k in order {
        let parts = views.of_member(k, parts);
        let size = parts.iter().map(String::len).sum();
        if k != shown {
            let Some(left) = room.checked_sub(size) else { break };
            room = left;
        }
        members.push((k, names[k].clone(), parts));
    }
    members.sort_by_key(|(k, ..)| *k);
    Details { members, shown, all }
}

fn name(agent: &Accounts, member: usize, chosen: Option<usize>) -> String {
    let of = &agent.members[member];
    let grown = of.summary.iter().find(|named| named.key == "total_return").map(|named| named.metric);
    let grown = match grown {
        Some(Metric::Value(value)) => format!(", {}", percent(value, 2)),
        _ => String::new(),
    };
    let mut why = Vec::new();
    if chosen == Some(member) {
        why.push("chosen on the validation window");
    }
    if agent.shown == member && agent.members.len() > 1 {
        why.push(agent.shown_as);
    }
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
    format!("{}{grown}{why}", of.label)
}

fn parts(views: &Views<'_>) -> [String; 2] {
    let (agent, baselines) = (&views.agent, &views.baselines);
    let first = html! {
        (section::intervals(agent))
        @if let Some(months) = section::months(agent) { (months) }
        (section::rolling(agent, baselines))
        (positions(agent))
        (section::distribution(agent))
        (section::costs(agent, baselines))
    };
    let second = html! {
        (section::drawdowns(agent, baselines))
        (section::trades(agent))
    };
    [first.into_string(), second.into_string()]
}

impl Details {
    /// The choice among members; nothing where there is none.
    pub(crate) fn picker(&self) -> Markup {
        html! {
            @if self.members.len() > 1 {
                div.picker {
                    label for="member" { "Details of" } " "
                    select #member {
                        @for (k, [label, name], _) in &self.members { option value=(k) data-label=(label) selected[*k == self.shown] { (name) } }
                    }
                    @if self.members.len() < self.all {
                        " " span.quiet { (self.members.len()) " of " (self.all) " members are on this page" }
                    }
                }
            }
        }
    }

    /// One of the two parts, of every member.
    pub(crate) fn part(&self, part: usize) -> Markup {
        html! {
            @for (k, _, parts) in &self.members {
                div data-member=(k) hidden[*k != self.shown] { (PreEscaped(&parts[part])) }
            }
        }
    }
}
