//! What was run: instrument, data, window, rules in words, configuration.

use foxhunt_ledger::Stamps;
use maud::{Markup, html};

use crate::calendar::date_time;
use crate::format::{decimal, integer, percent, short_hash};
use crate::view::View;

/// The facts of the run, as a list.
pub(crate) fn facts(agent: &View<'_>) -> Markup {
    let header = &agent.ledger.header;
    let rate = |e7: i32| percent(f64::from(e7) / 1e7, 4);
    let stamps = match header.data.stamps {
        Stamps::Open => "bar opens",
        Stamps::Close => "bar closes",
    };
    let rows: Vec<(&str, Markup)> = vec![
        ("Instrument", html! { (header.instrument) }),
        ("Price unit", html! { (header.price_unit) " " (header.quote_currency) ", lot " (header.lot) }),
        (
            "Window",
            html! { (header.window.name) ", " (date_time(header.window.start_ns)) " to " (date_time(header.window.end_ns)) " UTC" },
        ),
        (
            "Data",
            html! {
                (header.data.name) ", stamps are " (stamps) @if header.data.stamps_inferred { " (inferred)" }
                ", SHA-256 " code title=(header.data.sha256) { (short_hash(&header.data.sha256)) }
            },
        ),
        ("Starting cash", html! { (agent.units.money(header.start_cash as f64)) }),
        ("Highest leverage", html! { (decimal(f64::from(header.max_leverage_e4) / 1e4, 2)) "×" }),
        (
            "Fees",
            html! {
                "taker " (rate(header.rates.taker_e7)) ", maker " (rate(header.rates.maker_e7)) ", liquidation "
                (rate(header.rates.liquidation_e7))
            },
        ),
        (
            "Financing per year",
            html! { "long " (rate(header.rates.financing_long_e7)) ", short " (rate(header.rates.financing_short_e7)) },
        ),
        (
            "Members",
            html! {
                @for (k, member) in header.members.iter().enumerate() {
                    @if k > 0 { ", " } (member.label)
                }
            },
        ),
        ("Seed", html! { (header.seed) }),
        ("Trials behind the choice", html! { (integer(header.trials.into())) }),
        ("Prices", last_prices(agent)),
        ("Program", html! { (header.program) }),
    ];
    html! {
        section #run {
            h2 { "Run" }
            dl.facts { @for (name, value) in rows { div { dt { (name) } dd { (value) } } } }
        }
    }
}

fn last_prices(agent: &View<'_>) -> Markup {
    let rows = agent.shown_bars();
    html! {
        @if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
            "from " (agent.units.price(first.close)) " to " (agent.units.price(last.close)) " in "
            (integer(rows.len() as i128 - 1)) " bars"
        }
    }
}

/// The rules of the simulated market.
pub(crate) fn assumptions(agent: &View<'_>) -> Markup {
    html! {
        section #assumptions {
            h2 { "Assumptions" }
            p { "The market was simulated by these rules. Where they are wrong, so is every figure above." }
            ol.assumptions { @for words in &agent.ledger.header.assumptions { li { (words) } } }
        }
    }
}

/// The configuration as it was resolved.
pub(crate) fn config(toml: &str) -> Markup {
    html! {
        @if !toml.trim().is_empty() {
            section #config {
                h2 { "Configuration" }
                pre { code { (toml) } }
            }
        }
    }
}
