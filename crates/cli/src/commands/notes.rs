//! What the person at the terminal is told of bars before anything is done with them.

use foxhunt_data::SourceInfo;
use foxhunt_train::Market;
use std::{collections::BTreeSet, ops::Range};

/// Of markets that are trained on: features of which nothing is seen, hours in which venues are closed, and windows in which
/// nothing can be traded.
pub(crate) fn tell_markets(markets: &[Market]) {
    let mut told = BTreeSet::new();
    for market in markets {
        let names: Vec<&str> = market.normaliser.still().map(|(name, _)| name).collect();
        if !names.is_empty() {
            let one = names.len() == 1;
            tell(
                &mut told,
                &market.bars.source,
                &format!(
                    "the {} {} {} out: {} throughout the training window, or nearly so",
                    if one { "feature" } else { "features" },
                    names.join(", "),
                    if one { "is left" } else { "are left" },
                    if one { "it is constant" } else { "they are constant" }
                ),
            );
        }
        if let Some(words) = market.bars.odd_hours() {
            tell(&mut told, &market.bars.source, &words);
        }
        let s = &market.splits;
        for (name, rows) in [("training", &s.train), ("validation", &s.validation), ("test", &s.test)] {
            thin(&mut told, market, name, rows);
        }
    }
}

/// Of a stretch that is tested: that nothing can be traded in it, that it is none that the members have not seen.
pub(crate) fn tell_tested(market: &Market, name: &str, rows: &Range<usize>) {
    let mut told = BTreeSet::new();
    thin(&mut told, market, name, rows);
    if let Some(words) = market.in_sample(rows.clone()) {
        tell(&mut told, &market.bars.source, &words);
    }
}

fn thin(told: &mut BTreeSet<String>, market: &Market, name: &str, rows: &Range<usize>) {
    if let Some(words) = market.too_thin(rows.clone()) {
        let fix = "look at it with foxhunt data inspect; other dates, an instrument with a smaller lot (--instrument FILE) or a \
                   larger market.participation_cap may do";
        tell(told, &market.bars.source, &format!("in the {name} window {words}; {fix}"));
    }
}

/// Says it once of a file.
fn tell(told: &mut BTreeSet<String>, source: &SourceInfo, words: &str) {
    let note = format!("note: {}: {words}", source.path);
    if told.insert(note.clone()) {
        note!("{note}");
    }
}
