//! What follows the last epoch of a run with several instruments: each one's test in a folder of its own, and a table across
//! them.

use super::{
    finish::{Choice, FIGURES, Finish, REPORT, Tested, test},
    place, stop, table,
};
use crate::Failure;
use foxhunt_report::{MarketLine, MarketsInput, PartLine, StressLine, market_figures, write_markets};
use foxhunt_train::{Config, Market};
use std::{ops::Range, path::Path};

/// How members stand to instruments.
const OWN: &str = "Each instrument has members of its own, trained, chosen and tested on it alone.";
const SHARED: &str = "All instruments have the same members, each trained on all of them at once. Member and epoch were chosen by \
                      the mean return over the instruments’ validation windows, and are tested on each.";

/// Tests each instrument into its folder and writes the page across them; gives the lines for the terminal.
pub(crate) fn finish(x: &Finish<'_>, choices: &[Choice]) -> Result<String, Failure> {
    let mut lines = Vec::new();
    for (number, markets) in x.markets.chunks(x.config.folds()).enumerate() {
        let Some(name) = x.config.market_name(number) else { continue };
        stop::here()?;
        let out = x.folder.join(name);
        std::fs::create_dir_all(&out).map_err(|e| Failure::file("make the folder", &out, &e))?;
        let config = x.config.of_market(number);
        let own: Vec<Choice> = choices.iter().filter(|c| c.is_of(name)).cloned().collect();
        let tested = test(&Finish { out: &out, config: &config, markets, ..*x }, &own)?;
        lines.extend(line(name, markets, tested));
    }
    page(x.folder, &lines, words(x.config), x.config_text)
}

/// How members stand to the instruments of a run.
pub(crate) fn words(config: &Config) -> &'static str {
    if config.shares_policy() { SHARED } else { OWN }
}

/// Writes the page across instruments and its figures; gives the lines for the terminal.
pub(crate) fn page(
    folder: &Path,
    lines: &[MarketLine],
    words: &str,
    config_text: &str,
) -> Result<String, Failure> {
    let input = MarketsInput { markets: lines, words, config_toml: config_text };
    stop::here()?;
    let page = folder.join(REPORT);
    write_markets(&page, &input)?;
    let figures = market_figures(&input)?;
    place::write_json(&folder.join(FIGURES), &figures)?;
    Ok(format!("{}\nreport          {}", table::markets(lines, &figures["account"])?, page.display()))
}

/// What the page across instruments needs of one that was tested.
pub(crate) fn line(name: &str, markets: &[Market], tested: Tested) -> Option<MarketLine> {
    let Tested { ledger, member, chosen, baselines, stress, .. } = tested;
    let (first, last) = (markets.first()?, markets.last()?);
    let closes = |from: usize, to: usize| [from, to - 1].map(|row| first.bars.close_ns[row]);
    let (a, b) = (&first.splits, &last.splits);
    let part = PartLine {
        train: Some(closes(a.train.start, b.train.end)),
        validation: Some(closes(a.validation.start, b.validation.end)),
        test: closes(a.test.start, b.test.end),
        chosen,
        page: format!("{name}/{REPORT}"),
        ledger,
        member,
    };
    Some(MarketLine { name: name.to_owned(), part, baselines, stress: of_member(stress, member) })
}

/// What stress did to one member, which is all that the page across instruments shows of it.
fn of_member(stress: Vec<StressLine>, member: u32) -> Vec<StressLine> {
    let alone = |line: StressLine| StressLine { ledger: line.ledger.map(|all| all.only(member)), ..line };
    stress.into_iter().map(alone).collect()
}

/// The same of targets that anyone gave, over these rows.
pub(crate) fn given(name: &str, market: &Market, rows: Range<usize>, tested: Tested) -> Option<MarketLine> {
    let Tested { ledger, member, chosen, baselines, stress, .. } = tested;
    let at = |row: usize| market.bars.close_ns.get(row).copied();
    let part = PartLine {
        train: None,
        validation: None,
        test: [at(rows.start)?, at(rows.end.checked_sub(1)?)?],
        chosen,
        page: format!("{name}/{REPORT}"),
        ledger,
        member,
    };
    Some(MarketLine { name: name.to_owned(), part, baselines, stress: of_member(stress, member) })
}
