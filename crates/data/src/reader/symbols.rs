//! Whose rows are read, in a file of several symbols.

use std::collections::BTreeSet;

use super::row::Row;
use crate::{error::DataError, load::LoadOptions};

/// Symbols that a refusal names.
const NAMED_SYMBOLS: usize = 12;
/// Rows that are looked through to name them, where no instrument says which one might come.
const SYMBOL_ROWS: usize = 100_000;

/// The choice among a file's symbols: the one that is asked for, else the instrument's own (`EURUSD` is EUR/USD), else the only
/// one.
pub(crate) struct Symbols {
    at: usize,
    wanted: String,
    /// The wanted one is sure; else it is the first, and must be the only one.
    settled: bool,
    /// Name of the instrument that the caller gave, letters and digits alone.
    instrument: Option<String>,
    seen: BTreeSet<String>,
    /// The first row of another symbol.
    other: Option<(u64, String)>,
    looked: usize,
}

/// What to do with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Take,
    Pass,
    /// Take it, and forget all rows before: they were of another symbol.
    Restart,
    /// There are several, and nothing says which.
    Refuse,
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_uppercase()).collect()
}

impl Symbols {
    /// Symbols are in column `at`; `first` is the first one.
    pub(crate) fn new(at: usize, first: &str, options: &LoadOptions) -> Self {
        let instrument = options.instrument.as_ref().map(|i| plain(&i.name));
        let settled =
            options.symbol.is_some() || instrument.as_ref().is_some_and(|name| *name == plain(first));
        let wanted = options.symbol.clone().unwrap_or_else(|| first.to_owned());
        let seen = [first.to_owned()].into();
        Self { at, wanted, settled, instrument, seen, other: None, looked: 0 }
    }

    pub(crate) fn choose(&mut self, row: &Row) -> Choice {
        let symbol = row.cell(self.at);
        if symbol == self.wanted {
            // Once there are others, the first is no choice any more.
            return if self.other.is_none() { Choice::Take } else { self.look() };
        }
        if self.settled {
            return Choice::Pass;
        }
        if self.instrument.as_ref().is_some_and(|name| *name == plain(symbol)) {
            (self.wanted, self.settled, self.other) = (symbol.to_owned(), true, None);
            return Choice::Restart;
        }
        if self.seen.len() <= NAMED_SYMBOLS {
            self.seen.insert(symbol.to_owned());
        }
        self.other.get_or_insert_with(|| (row.line, symbol.to_owned()));
        self.look()
    }

    /// Looks on for the instrument's symbol, or a while to name them all.
    fn look(&mut self) -> Choice {
        self.looked += 1;
        let enough = self.instrument.is_none() && self.looked > SYMBOL_ROWS;
        if enough { Choice::Refuse } else { Choice::Pass }
    }

    /// The refusal, if there were several and none was chosen.
    pub(crate) fn refusal(&self, path: &str) -> Option<DataError> {
        let (line, text) = self.other.as_ref()?;
        let more = if self.seen.len() > NAMED_SYMBOLS { ", …" } else { "" };
        let all: Vec<&str> = self.seen.iter().map(String::as_str).take(NAMED_SYMBOLS).collect();
        let fix = format!("say which symbol to load with --symbol: {}{more}", all.join(", "));
        Some(DataError::cell(path, (*line, "symbol"), text, "holds several symbols", fix))
    }

    /// The symbol whose rows were taken.
    pub(crate) fn into_chosen(self) -> String {
        self.wanted
    }

    /// What to say of a file without a row.
    pub(crate) fn missing(&self) -> String {
        format!("has no row of symbol {:?} with prices", self.wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    fn choices(options: &LoadOptions, symbols: &[&str]) -> (Vec<Choice>, bool) {
        let mut all = Symbols::new(0, symbols[0], options);
        let mut choose = |symbol: &str| {
            let mut row = Row::default();
            row.push(symbol);
            all.choose(&row)
        };
        (symbols.iter().map(|s| choose(s)).collect(), all.refusal("x").is_some())
    }

    #[test]
    fn the_instruments_symbol_may_come_late() {
        use Choice::{Pass, Restart, Take};
        let pound = LoadOptions { instrument: Some(presets::fx("GBP", "USD")), ..LoadOptions::default() };
        let late = choices(&pound, &["EURUSD", "NZDUSD", "EURUSD", "gbp/usd", "EURUSD", "gbp/usd"]);
        assert_eq!(late, (vec![Take, Pass, Pass, Restart, Pass, Take], false));
        assert_eq!(choices(&pound, &["X", "X"]), (vec![Take, Take], false));
        assert_eq!(choices(&pound, &["X", "Y", "X"]), (vec![Take, Pass, Pass], true));
        let asked = LoadOptions { symbol: Some("Y".into()), ..pound };
        assert_eq!(choices(&asked, &["X", "Y", "X"]), (vec![Pass, Take, Pass], false));
        let many = choices(&LoadOptions::default(), &vec!["Y"; SYMBOL_ROWS + 3]);
        assert_eq!(many.0.last(), Some(&Take));
    }
}
