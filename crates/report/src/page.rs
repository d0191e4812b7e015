//! The page as a whole.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::calendar::Date;
use crate::chart;
use crate::input::{ReportError, ReportInput};
use crate::section;
use crate::view::{View, Views};

const STYLE: &str = include_str!("style.css");

/// Writes the report to a file, which appears whole, by rename.
///
/// # Errors
///
/// As [`render`], and when the file system refuses.
pub fn write_report(path: &Path, input: &ReportInput<'_>) -> Result<(), ReportError> {
    let text = render(input)?;
    let temporary = path.with_extension("html.tmp");
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&temporary, path)).map_err(|source| {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        ReportError::Io { path: path.into(), source }
    })
}

/// The report as HTML. Equal input gives equal text.
///
/// # Errors
///
/// [`ReportError::Reconcile`] if the ledger or a baseline contradicts itself.
pub fn render(input: &ReportInput<'_>) -> Result<String, ReportError> {
    let views = Views::new(input)?;
    Ok(page(&views, input).into_string())
}

/// A page that stands alone: `style` after the style sheet that all pages share, `body` as it is.
///
/// The page loads and runs nothing, whatever its body says.
pub fn shell(title: &str, style: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body { (body) }
        }
    }
}

fn page(views: &Views<'_>, input: &ReportInput<'_>) -> Markup {
    let Views { agent, baselines, stress, folds } = views;
    let header = &agent.ledger.header;
    let title = format!("{}: {} backtest", header.instrument, header.window.name);
    let day = |ns| Date::of_ns(ns).text();
    let body = html! {
        header {
            h1 { (header.instrument) " " span.quiet { (header.window.name) " backtest" } }
            p.lead {
                (day(header.window.start_ns)) " to " (day(header.window.end_ns)) " · "
                (agent.members.len()) @if agent.members.len() == 1 { " member" } @else { " members" }
                " · " (agent.units.money(header.start_cash as f64)) " at the start"
            }
        }
        main {
            (section::summary(agent, baselines))
            (equity(agent, baselines))
            @if let Some(folds) = section::folds(folds) { (folds) }
            @if let Some(months) = section::months(agent) { (months) }
            (section::drawdowns(agent, baselines))
            (section::intervals(agent))
            (positions(agent))
            (section::trades(agent))
            (section::costs(agent, baselines))
            @if let Some(stress) = section::stress(agent, stress) { (stress) }
            @if let Some(training) = section::training(input.curves) { (training) }
            (section::assumptions(agent))
            (section::facts(agent))
            (section::config(input.config_toml))
        }
        footer { p { (header.program) " · every bar of this report’s ledgers reconciles with an independent cash-flow book to the unit" } }
    };
    shell(&title, "", &body)
}

fn equity(agent: &View<'_>, baselines: &[View<'_>]) -> Markup {
    let many = agent.members.len() > 1;
    html! {
        section #equity {
            h2 { "Equity" }
            figure {
                figcaption {
                    span.item {
                        span.key.key-agent {} (agent.shown().label)
                        @if many { " (the middle one by final equity)" }
                    }
                    @if many { span.item { span.key.key-band {} "lowest to highest member" } }
                    @for (k, baseline) in baselines.iter().enumerate() {
                        span.item {
                            span.key.{ "key-baseline-" (k % 4) } {} (baseline.name)
                            @if baseline.members.len() > 1 { " (the middle of " (baseline.members.len()) ")" }
                        }
                    }
                }
                (chart::equity(agent, baselines))
            }
        }
    }
}

fn positions(agent: &View<'_>) -> Markup {
    let key = html! {
        span.item { span.key.key-price {} "close" } " "
        span.item { span.key.key-buy {} "bought" } " "
        span.item { span.key.key-sell {} "sold" } " "
        span.item { span.key.key-long {} "long" } " "
        span.item { span.key.key-short {} "short" } " "
    };
    html! {
        section #positions {
            h2 { "Positions" }
            figure {
                figcaption { span.item { b { (agent.shown().label) } ", whole window" } (key) }
                (chart::positions(agent))
            }
            @if let Some(closeup) = chart::closeup(agent) {
                figure {
                    figcaption { span.item { "The busiest stretch, bar by bar, without the gaps between sessions" } (key) }
                    (closeup)
                }
            }
        }
    }
}
