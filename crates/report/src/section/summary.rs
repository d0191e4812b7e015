//! The headline: a few figures in large and a short table, and further down all of them beside the baselines.

use foxhunt_metrics::{Metric, Named, RETURNS_MIN, Spread, Unit, over_members};
use maud::{Markup, html};

use super::Notes;
use crate::format::{integer, signed};
use crate::view::Accounts;

const TILES: [(&str, &str); 4] = [
    ("total_return", "Total return"),
    ("sharpe_days", "Sharpe, per day"),
    ("max_drawdown_worst", "Deepest drawdown"),
    ("cost_share", "Costs over equity"),
];

/// Where a new group of rows begins, and its name.
const GROUPS: [(&str, &str); 4] = [
    ("total_return", "Return and risk"),
    ("turnover", "Trading"),
    ("trip_count", "Round trips"),
    ("bar_count", "Calendar"),
];

/// What the short table says.
const SHORT: [&str; 9] = [
    "total_return",
    "cagr",
    "sharpe_days",
    "sortino",
    "max_drawdown_worst",
    "turnover",
    "cost_share",
    "trip_count",
    "session_count",
];

/// The figures that a reader looks for first.
pub(crate) fn headline(agent: &Accounts, baselines: &[impl AsRef<Accounts>]) -> Markup {
    html! {
        section #summary {
            h2 { "Summary" }
            (brief(agent, baselines))
            p.notes { a href="#figures" { "All figures" } " are below the chart." }
        }
    }
}

/// Tiles and a short table.
pub(crate) fn brief(agent: &Accounts, baselines: &[impl AsRef<Accounts>]) -> Markup {
    let mut notes = Notes::default();
    let keys = &agent.shown().summary;
    let short: Vec<Named> = keys.iter().filter(|named| SHORT.contains(&named.key)).copied().collect();
    html! {
        div.tiles {
            @for (key, label) in TILES {
                (tile(agent, baselines, keys, key, label))
            }
        }
        (table(agent, baselines, &short, &mut notes))
        (notes.list())
        @if let Some(days) = few_days(agent) {
            p.notes {
                "Sharpe ratios per year are made of " (days) " session days here. So few tell nothing of a year: it takes "
                (RETURNS_MIN) " for an interval."
            }
        }
        @if std::iter::once(agent).chain(baselines.iter().map(AsRef::as_ref)).any(|of| of.ruin().is_some()) {
            p.notes {
                "A ruined account ends there: its figures are of the sessions that it lived, and those per year say what these would "
                "come to in a year. They don’t compare with figures of another stretch."
            }
        }
    }
}

/// How many session days the longest account lived, where that is too few to say something per year.
fn few_days(agent: &Accounts) -> Option<usize> {
    let days =
        agent.members.iter().filter_map(|member| member.series.day_returns().ok()).map(|days| days.len());
    days.max().filter(|days| (2..RETURNS_MIN).contains(days))
}

/// Who was ruined, below the name.
fn ruined(of: &Accounts) -> Markup {
    html! { @if let Some(words) = of.ruin() { br; span.ruined { (words) } } }
}

/// Every figure beside the baselines.
pub(crate) fn summary(agent: &Accounts, baselines: &[impl AsRef<Accounts>]) -> Markup {
    let mut notes = Notes::default();
    html! {
        section #figures {
            h2 { "All figures" }
            (table(agent, baselines, &agent.shown().summary, &mut notes))
            (notes.list())
            @for baseline in baselines.iter().map(AsRef::as_ref) {
                @let words = baseline.own_words(agent);
                @if !words.is_empty() { p.notes { b { (baseline.name) } ": " (words.join(" ")) } }
            }
            p.notes {
                "Deflated Sharpe is the probability that the Sharpe ratio of days is above what the best of "
                (integer(agent.trials.into())) " trials without skill would have reached; of a baseline, that it is above 0."
            }
        }
    }
}

fn table(agent: &Accounts, baselines: &[impl AsRef<Accounts>], keys: &[Named], notes: &mut Notes) -> Markup {
    let many = agent.members.len() > 1;
    // A few rows need no groups.
    let grouped = keys.len() > SHORT.len();
    html! {
            div.scroll {
                table.figures {
                    thead {
                        tr {
                            th { "" }
                            th.number {
                                (agent.name)
                                @if many {
                                    br; span.quiet { "mean of " (agent.members.len()) " members, lowest … highest" }
                                }
                                (ruined(agent))
                            }
                            @for baseline in baselines.iter().map(AsRef::as_ref) {
                                th.number {
                                    (baseline.name)
                                    @if baseline.members.len() > 1 {
                                        br; span.quiet { "mean of " (baseline.members.len()) ", lowest … highest" }
                                    }
                                    (ruined(baseline))
                                }
                            }
                        }
                    }
                    tbody {
                        @for named in keys {
                            @if let Some((_, group)) = GROUPS.iter().find(|(key, _)| grouped && *key == named.key) {
                                tr.group { th colspan=(2 + baselines.len()) { (group) } }
                            }
                            (row(agent, baselines, named, notes))
                        }
                    }
                }
            }
    }
}

/// Lowest and highest of a baseline's draws, where they say something: not of counts and of amounts.
fn range_of(baseline: &Accounts, named: &Named) -> Option<Spread> {
    let said = matches!(named.unit, Unit::Share | Unit::Ratio | Unit::Times);
    over_members(&baseline.figures(named.key)).ok().filter(|_| said)
}

fn range(view: &Accounts, named: &Named, spread: &Spread) -> Markup {
    let text = |value| view.units.metric(value, named.unit);
    html! { br; span.quiet.range { (text(spread.min)) " … " (text(spread.max)) } }
}

fn tile(
    agent: &Accounts,
    baselines: &[impl AsRef<Accounts>],
    keys: &[Named],
    key: &str,
    label: &str,
) -> Markup {
    let unit = keys.iter().find(|named| named.key == key).map_or(Unit::Ratio, |named| named.unit);
    let text = |view: &Accounts| match view.central(key) {
        Some(Metric::Value(value)) => {
            let text = view.units.metric(value, unit);
            if key == "total_return" { signed(text) } else { text }
        }
        _ => "undefined".to_owned(),
    };
    html! {
        div.tile {
            div.tile-label { (label) }
            div.tile-value { (text(agent)) }
            @if let Some(baseline) = baselines.first().map(AsRef::as_ref) {
                div.tile-beside { (baseline.name) " " b { (text(baseline)) } }
            }
        }
    }
}

fn row(agent: &Accounts, baselines: &[impl AsRef<Accounts>], named: &Named, notes: &mut Notes) -> Markup {
    let figures = agent.figures(named.key);
    let mut cell = |view: &Accounts, figures: &[Metric]| match view.central(named.key) {
        Some(Metric::Value(value)) => {
            html! { (view.units.metric(value, named.unit)) (notes.partial(figures)) }
        }
        Some(Metric::Undefined(reason)) => notes.undefined(reason),
        None => html! {},
    };
    let spread = over_members(&figures).ok();
    html! {
        tr {
            th scope="row" { (named.label) }
            td.number {
                (cell(agent, &figures))
                @if let Some(spread) = spread { (range(agent, named, &spread)) }
            }
            @for baseline in baselines.iter().map(AsRef::as_ref) {
                td.number {
                    (cell(baseline, &baseline.figures(named.key)))
                    @if let Some(spread) = range_of(baseline, named) { (range(baseline, named, &spread)) }
                }
            }
        }
    }
}
