//! The page as a whole.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::calendar::Date;
use crate::chart;
use crate::format::integer;
use crate::input::{ReportError, ReportInput};
use crate::members::{self, Details};
use crate::policy::policy;
use crate::section;
use crate::view::{View, Views};

const STYLE: &str = include_str!("style.css");
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// Writes the report to a file, which appears whole, by rename.
///
/// # Errors
///
/// As [`render`], and when the file system refuses.
pub fn write_report(path: &Path, input: &ReportInput<'_>) -> Result<(), ReportError> {
    write_page(path, &render(input)?)
}

/// Writes a page, whole or not at all.
pub(crate) fn write_page(path: &Path, text: &str) -> Result<(), ReportError> {
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
    let mut views = Views::new(input)?;
    let members = members::details(&mut views, input.chosen);
    Ok(page(&views, &members, input).into_string())
}

/// A page that stands alone: `style` after the style sheet that all pages share, `body` as it is.
///
/// The page loads and runs nothing, whatever its body says.
pub fn shell(title: &str, style: &str, body: &Markup) -> Markup {
    scripted(title, style, None, body)
}

/// The same with a script of our own; its hash in the policy keeps any other from running.
pub(crate) fn scripted(title: &str, style: &str, script: Option<&str>, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy(script));
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body { (body) @if let Some(script) = script { script { (PreEscaped(script)) } } }
        }
    }
}

fn page(views: &Views<'_>, members: &Details, input: &ReportInput<'_>) -> Markup {
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
                @if let Some(chosen) = input.chosen.and_then(|k| agent.members.get(k as usize)).filter(|_| agent.members.len() > 1) {
                    " · the validation window chose " (chosen.label)
                }
            }
        }
        main {
            (section::headline(agent, baselines))
            (equity(agent, baselines))
            (section::summary(agent, baselines))
            @if let Some(folds) = section::folds(folds) { (folds) }
            (members.picker())
            (members.part(0))
            @if let Some(stress) = section::stress(agent, stress) { (stress) }
            @if let Some(training) = section::training(input.curves) { (training) }
            (members.part(1))
            (section::assumptions(agent))
            (section::facts(agent))
            (section::config(input.config_toml))
        }
        footer { p { (header.program) " · every bar of this report’s ledgers reconciles with an independent cash-flow book to the unit" } }
    };
    scripted(&title, "", Some(SCRIPT), &body)
}

fn equity(agent: &View<'_>, baselines: &[View<'_>]) -> Markup {
    html! {
        section #equity {
            h2 { "Equity and drawdown" }
            figure {
                (section::legend(agent, baselines, true))
                (chart::equity(agent, baselines))
            }
            p.notes {
                "Long lines are thinned so that no extreme is lost: of each of " (integer(chart::BUCKETS as i128)) " equal stretches of time (fewer in the drawing) the first, "
                "lowest, highest and last point are kept. "
                span.with-script { "Point at a chart for values, drag across it or spread two fingers to zoom, double-click to go back; a legend’s item hides its line." }
            }
        }
    }
}

pub(crate) fn positions(agent: &View<'_>) -> Markup {
    let key = html! {
        span.item data-key="key-price" { span.key.key-price {} "close" } " "
        span.item data-key="key-buy" { span.key.key-buy {} "bought" } " "
        span.item data-key="key-sell" { span.key.key-sell {} "sold" } " "
        span.item { span.key.key-long {} "long" } " "
        span.item { span.key.key-short {} "short" } " "
    };
    html! {
        section id=[agent.id("positions")] {
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
