//! One account through all instruments of a run: equal parts of the capital, one for each, and what they hold together.

use crate::chart;
use crate::figures::accounts;
use crate::format::{Units, integer};
use crate::input::{MarketLine, ReportError};
use crate::section::{brief, costs, drawdowns, intervals, legend, months, stress_table};
use crate::view::{Accounts, MIDDLE, MemberView, PartView, StressView, View, middle};
use foxhunt_ledger::{CombineError, Ledger, combine};
use foxhunt_metrics::{Series, summary};
use maud::{Markup, html};
use serde_json::{Value, json};

/// What the account is of, where instruments have members of their own.
const CHOSEN: &str = "the chosen of each instrument";

/// The account, or why there is none.
pub(crate) enum Account {
    /// The run's members or the chosen of each instrument, and baselines over the same bars.
    Of {
        agent: Box<Accounts>,
        baselines: Vec<Accounts>,
        /// The chosen under stress, by the lines that all instruments have.
        stress: Vec<Stressed>,
    },
    /// Why these accounts are not added up.
    None(String),
}

/// A line under stress, summed.
pub(crate) struct Stressed {
    key: String,
    label: String,
    again: bool,
    /// The sum; or why there is none.
    of: Result<Accounts, String>,
}

/// Instruments made ready to show.
pub(crate) struct Instrument<'a> {
    pub(crate) line: &'a MarketLine,
    pub(crate) part: PartView<'a>,
    /// Buy and hold first.
    pub(crate) baselines: Vec<View<'a>>,
    /// The chosen member alone under stress.
    pub(crate) stress: Vec<StressView<'a>>,
}

impl Account {
    /// The account through these instruments; nothing where there is one alone.
    pub(crate) fn of(all: &[Instrument<'_>]) -> Result<Option<Self>, ReportError> {
        let [first, _, ..] = all else { return Ok(None) };
        let made = || -> Result<Self, CombineError> {
            let agent = Box::new(agent(all)?);
            let count = all.iter().map(|i| i.baselines.len()).min().unwrap_or(0);
            let baseline = |k: usize| {
                let parts: Vec<&View<'_>> = all.iter().map(|i| &i.baselines[k]).collect();
                let draws = parts.iter().map(|view| view.members.len()).min().unwrap_or(0);
                let members = (0..draws).map(|m| sum(&parts, |_| m)).collect::<Result<Vec<_>, _>>()?;
                let of = &first.baselines[k];
                Ok(together(members, of.name.clone(), None, of))
            };
            let baselines = (0..count).map(baseline).collect::<Result<_, CombineError>>()?;
            let keys = first.stress.iter();
            let stress = keys.filter_map(|s| stressed(all, s).transpose()).collect::<Result<_, _>>()?;
            Ok(Account::Of { agent, baselines, stress })
        };
        match made() {
            Ok(account) => Ok(Some(account)),
            Err(refused) if refused.is_refusal() => Ok(Some(Account::None(refused.to_string()))),
            Err(source) => Err(ReportError::Combine { source }),
        }
    }
}

fn agent(all: &[Instrument<'_>]) -> Result<Accounts, CombineError> {
    let parts: Vec<&View<'_>> = all.iter().map(|i| &i.part.view).collect();
    let ids = |view: &View<'_>| view.ledger.header.members.iter().map(|m| m.id).collect::<Vec<_>>();
    let chosen = |k: usize| all[k].part.line.member as usize;
    let same =
        parts.iter().all(|view| ids(view) == ids(parts[0])) && (0..all.len()).all(|k| chosen(k) == chosen(0));
    let name = parts[0].name.clone();
    if same {
        let members =
            (0..parts[0].members.len()).map(|m| sum(&parts, |_| m)).collect::<Result<Vec<_>, _>>()?;
        return Ok(together(members, name, Some(chosen(0)), parts[0]));
    }
    let mut member = sum(&parts, chosen)?;
    member.0.label = CHOSEN.into();
    let trials = parts.iter().map(|view| view.trials).sum();
    member.0.series.trials = trials;
    member.0.summary = summary(&member.0.series);
    Ok(Accounts { trials, ..together(vec![member], name, Some(0), parts[0]) })
}

/// A line under stress through all instruments; nothing where one of them doesn't have it.
fn stressed(all: &[Instrument<'_>], of: &StressView<'_>) -> Result<Option<Stressed>, CombineError> {
    let key = &of.line.key;
    let found = all.iter().map(|i| Some((&i.line.name, i.stress.iter().find(|s| s.line.key == *key)?)));
    let Some(found) = found.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let parts = found.iter().map(|(name, s)| s.view.as_ref().map_err(|problem| format!("{name}: {problem}")));
    let account = match parts.collect::<Result<Vec<&View<'_>>, String>>() {
        Err(problem) => Err(problem),
        Ok(parts) => match sum(&parts, |_| 0) {
            Ok(member) => Ok(together(vec![member], of.line.label.clone(), Some(0), parts[0])),
            Err(refused) if refused.is_refusal() => Err(refused.to_string()),
            Err(wrong) => return Err(wrong),
        },
    };
    let line = of.line;
    Ok(Some(Stressed { key: key.clone(), label: line.label.clone(), again: line.again, of: account }))
}

/// A member of the sum, and the exponent of its money.
fn sum(parts: &[&View<'_>], member: impl Fn(usize) -> usize) -> Result<(MemberView, u32), CombineError> {
    let of: Vec<(&Ledger, _)> =
        parts.iter().enumerate().map(|(k, view)| (view.ledger, view.members[member(k)].lines)).collect();
    let made = combine(&of)?;
    let ledgers: Vec<&Ledger> = of.iter().map(|(ledger, _)| *ledger).collect();
    let series = Series::combined(&made, &ledgers, parts[0].trials);
    let label = parts[0].members[member(0)].label.clone();
    let view = MemberView { label, summary: summary(&series), series, lines: made.lines, ruined: None };
    Ok((view, made.money_exponent))
}

fn together(
    members: Vec<(MemberView, u32)>,
    name: String,
    chosen: Option<usize>,
    first: &View<'_>,
) -> Accounts {
    let exponent = members.first().map_or(0, |(_, exponent)| *exponent);
    let members: Vec<MemberView> = members.into_iter().map(|(member, _)| member).collect();
    Accounts {
        units: Units::of_money(&first.units.currency, exponent),
        name,
        shown: chosen.unwrap_or_else(|| middle(&members)),
        shown_as: if chosen.is_some() { "the chosen one" } else { MIDDLE },
        beside: false,
        members,
        seed: first.seed,
        trials: first.trials,
        assumptions: Vec::new(),
    }
}

/// The sections of the page.
pub(crate) fn sections(account: &Account, instruments: usize) -> Markup {
    let (agent, baselines, stress) = match account {
        Account::Of { agent, baselines, stress } => (agent, baselines, stress),
        Account::None(reason) => {
            return html! {
                section #account {
                    h2 { "One account through all instruments" }
                    p { "There is none: " (reason) "." }
                }
            };
        }
    };
    let start = agent.units.money(agent.shown().lines.start as f64);
    html! {
        section #account {
            h2 { "One account through all instruments" }
            p {
                (start) " at the start, " (integer(instruments as i128)) " equal parts of it, one for each instrument. Every part is the "
                "account of its instrument’s own page; nothing is moved from one to another, and each keeps to its own margin. At "
                "every time at which a bar of any of them ends the account is their sum, a part without a bar that ends then at its last "
                "close; all of it is held, to the unit, to the cash that the fills of all parts moved."
            }
            (brief(agent, baselines))
            p.notes {
                "Within bars means each part at the worst price of its own bar, as if all came at once. A session day is begun by the "
                "first part whose session begins. Baselines are sums over the same instruments in the same way."
            }
        }
        section #account-equity {
            h2 { "Equity and drawdown of that account" }
            figure { (legend(agent, baselines, true)) (chart::equity(agent, baselines)) }
        }
        (intervals(agent))
        @if let Some(months) = months(agent) { (months) }
        (costs(agent, baselines))
        (drawdowns(agent, baselines))
        @if !stress.is_empty() { (under_stress(agent, stress)) }
    }
}

fn under_stress(agent: &Accounts, stress: &[Stressed]) -> Markup {
    html! {
        section #account-stress {
            h2 { "Stress of that account" }
            (stress_table(stress.iter().map(|s| (s.label.as_str(), s.again, s.of.as_ref().map_err(String::as_str)))))
            p.notes {
                "Each line is the sum of the instruments’ own, of " (agent.shown().label) ": costs and equity are multiplied in all of them "
                "at once, and what a line does to each stands on its own page, in words, too."
            }
        }
    }
}

/// The same in numbers.
pub(crate) fn figures(account: &Account) -> Value {
    match account {
        Account::None(reason) => json!({ "none": reason }),
        Account::Of { agent, baselines, stress } => {
            let mut out = accounts(agent);
            let baselines: Vec<Value> = baselines.iter().map(|b| accounts(b).into()).collect();
            out.insert("currency".into(), json!(agent.units.currency));
            out.insert("money_exponent".into(), json!(agent.units.exponent()));
            out.insert("start_cash".into(), json!(agent.shown().lines.start));
            out.insert("trials".into(), json!(agent.trials));
            out.insert("shown".into(), json!(agent.shown().label));
            out.insert("baselines".into(), json!(baselines));
            let line = |s: &Stressed| {
                crate::figures::stress(&s.key, &s.label, s.again, s.of.as_ref().map_err(String::as_str))
            };
            out.insert("stress".into(), stress.iter().map(line).collect());
            out.into()
        }
    }
}
