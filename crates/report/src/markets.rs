//! The page of a run with several instruments: one table across them, and one account through them. Everything else is on each
//! one's own page.

use crate::account::{self, Account, Instrument, sections};
use crate::figures::{FORMAT, metrics, part};
use crate::input::{MarketLine, ReportError};
use crate::page::{SCRIPT, scripted, write_page};
use crate::section::{COLUMNS, Notes, SMALL, WINDOWS, cell, chosen, config, windows};
use crate::view::{PartView, StressView, View};
use foxhunt_ledger::Ledger;
use foxhunt_metrics::{Metric, Undefined, Unit, over_members};
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use std::path::Path;

/// What the page is made from.
#[derive(Clone, Copy, Debug)]
pub struct MarketsInput<'a> {
    /// The instruments, in the order of the run.
    pub markets: &'a [MarketLine],
    /// How what was learnt is spread over them, in words.
    pub words: &'a str,
    /// The resolved configuration as TOML.
    pub config_toml: &'a str,
}

impl Instrument<'_> {
    fn chosen(&self, key: &str) -> Metric {
        figure(&self.part.chosen().summary, key)
    }

    fn held(&self, key: &str) -> Metric {
        self.baselines.first().map_or(NONE, |hold| figure(&hold.shown().summary, key))
    }
}

/// What is not there.
const NONE: Metric = Metric::Undefined(Undefined::NoTrades);

fn figure(summary: &[foxhunt_metrics::Named], key: &str) -> Metric {
    summary.iter().find(|named| named.key == key).map_or(NONE, |named| named.metric)
}

fn views<'a>(input: &MarketsInput<'a>) -> Result<Vec<Instrument<'a>>, ReportError> {
    let view = |line: &'a MarketLine| {
        let baseline = |ledger: &'a Ledger| {
            let name = ledger.header.baseline.as_deref().unwrap_or("a baseline");
            View::named(ledger, &format!("{name} of {}", line.name))
        };
        let baselines = line.baselines.iter().map(baseline).collect::<Result<_, _>>()?;
        let stress = line.stress.iter().map(StressView::new).collect::<Result<_, _>>()?;
        Ok(Instrument { line, part: PartView::new(&line.part, &line.name)?, baselines, stress })
    };
    input.markets.iter().map(view).collect()
}

/// Writes the page to a file, which appears whole, by rename.
///
/// # Errors
/// As [`render_markets`], and when the file system refuses.
pub fn write_markets(path: &Path, input: &MarketsInput<'_>) -> Result<(), ReportError> {
    write_page(path, &render_markets(input)?)
}

/// The page as HTML. Equal input gives equal text.
///
/// # Errors
/// [`ReportError::Reconcile`] if a ledger contradicts itself.
pub fn render_markets(input: &MarketsInput<'_>) -> Result<String, ReportError> {
    let views = views(input)?;
    let account = Account::of(&views)?;
    let mut notes = Notes::default();
    let body = html! {
        header {
            h1 { (views.len()) @if views.len() == 1 { " instrument" } @else { " instruments" } " " span.quiet { "backtest" } }
            p.lead { (input.words) }
        }
        main {
            section #instruments {
                h2 { "Instruments" }
                div.scroll { (table(&views, &mut notes)) }
                (notes.list())
                p.notes {
                    "Each instrument has an account, rules and windows of its own; its page, behind its name, shows all of it. "
                    (SMALL) " Means over instruments weigh each one alike and say nothing of how "
                    "they move together; the account through all of them does."
                }
            }
            @if let Some(account) = &account { (sections(account, views.len())) }
            (config(input.config_toml))
        }
        @if let Some(first) = views.first() {
            footer { p { (first.part.view.ledger.header.program) } }
        }
    };
    Ok(scripted("instruments: backtest", "", Some(SCRIPT), &body).into_string())
}

fn table(views: &[Instrument<'_>], notes: &mut Notes) -> Markup {
    html! {
        table.figures.parts {
            thead { tr {
                th { "instrument" } th { (WINDOWS) } th { "chosen" }
                @for (_, heading) in COLUMNS { th.number { (heading) } }
                th.number { "buy and hold" }
            } }
            tbody {
                @for market in views {
                    tr {
                        th scope="row" {
                            a href=(market.part.line.page) { (market.line.name) }
                            br; span.quiet { (market.part.view.ledger.header.instrument) }
                        }
                        td.quiet { (windows(&market.part)) }
                        td { (chosen(&market.part)) }
                        @for (key, _) in COLUMNS { td.number { (cell(&market.part, key, notes)) } }
                        td.number { (shown(market, market.held("total_return"), Unit::Share, notes)) }
                    }
                }
                @if let [first, _, ..] = views {
                    tr {
                        th scope="row" { "mean" }
                        td {} td {}
                        @for (key, _) in COLUMNS {
                            td.number { (shown(first, mean(views, |m| m.chosen(key)), unit(first, key), notes)) }
                        }
                        td.number { (shown(first, mean(views, |m| m.held("total_return")), Unit::Share, notes)) }
                    }
                }
            }
        }
    }
}

fn unit(market: &Instrument<'_>, key: &str) -> Unit {
    let named = market.part.chosen().summary.iter().find(|named| named.key == key);
    named.map_or(Unit::Ratio, |named| named.unit)
}

fn shown(market: &Instrument<'_>, metric: Metric, unit: Unit, notes: &mut Notes) -> Markup {
    match metric {
        Metric::Value(value) => html! { (market.part.view.units.metric(value, unit)) },
        Metric::Undefined(reason) => notes.undefined(reason),
    }
}

/// Mean over the instruments; undefined where fewer than two have the figure.
fn mean(views: &[Instrument<'_>], of: impl Fn(&Instrument<'_>) -> Metric) -> Metric {
    let figures: Vec<Metric> = views.iter().map(of).collect();
    over_members(&figures).map_or_else(Metric::Undefined, |spread| Metric::Value(spread.mean))
}

/// The same as JSON: of each instrument what [`figures`](crate::figures()) has of a fold, and buy and hold beside it.
///
/// # Errors
/// As [`render_markets`].
pub fn market_figures(input: &MarketsInput<'_>) -> Result<Value, ReportError> {
    let views = views(input)?;
    let markets = views.iter().map(|m| {
        let header = &m.part.view.ledger.header;
        let mut out = part(&m.part);
        let own = json!({
            "name": m.line.name,
            "page": m.part.line.page,
            "instrument": header.instrument,
            "quote_currency": header.quote_currency,
            "money_exponent": header.money_exponent,
            "start_cash": header.start_cash,
            "data": { "name": header.data.name, "sha256": header.data.sha256 },
            "trials": header.trials,
            "chosen_metrics": metrics(m.part.chosen()),
            "buy_and_hold": m.baselines.first().map(|hold| metrics(hold.shown())),
        });
        out.extend(own.as_object().cloned().unwrap_or_default());
        Value::Object(out)
    });
    let over = |key: &str| match mean(&views, |m| m.chosen(key)) {
        Metric::Value(mean) => json!(mean),
        Metric::Undefined(reason) => json!({ "undefined": reason.to_string() }),
    };
    let means: Map<String, Value> = COLUMNS.iter().map(|(key, _)| ((*key).to_owned(), over(key))).collect();
    let account = Account::of(&views)?.map(|account| account::figures(&account));
    Ok(json!({
        "account": account,
        "format": FORMAT,
        "program": views.first().map(|m| &m.part.view.ledger.header.program),
        "markets": markets.collect::<Vec<_>>(),
        "mean_over_markets": means,
    }))
}
