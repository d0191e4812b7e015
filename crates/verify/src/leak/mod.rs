//! Does anything that is known at a moment depend on what comes after it?

mod change;
mod compare;
#[cfg(test)]
mod tests;

use crate::{Agents, VerifyError, dice::throws};
use compare::{Seen, differences};
use foxhunt_backtest::{Backtest, Strategy, TestWindow};
use foxhunt_core::DType;
use foxhunt_data::Bars;
use foxhunt_device::Device;
use foxhunt_ledger::Ledger;
use foxhunt_train::{Config, Market};
use std::{fmt, ops::Range};

/// Moments that are tried.
const CUTS: usize = 4;
/// Decisions before a moment, and after it, of accounts that begin for its sake alone.
const NEAR: usize = 64;

/// One moment, after which everything was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The last row that was left as it is.
    pub row: usize,
    /// Its close, ns UTC.
    pub time_ns: i64,
    /// Feature values compared.
    pub features: usize,
    /// Accounts compared: action, fills, reward and all else of one bar of one member.
    pub accounts: usize,
    /// Fills in changed bars, each held against what its bar offered.
    pub fills: usize,
    /// What should not have changed and did, the first of each kind.
    pub found: Vec<String>,
}

/// What was compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeakReport {
    /// Instrument.
    pub instrument: String,
    /// Rows of the training window, all before the first cut.
    pub train: Range<usize>,
    /// Columns of the file beside its bars, which were changed after the moments too. Whether their values were known at
    /// their bars' closes is not checked.
    pub stated: Vec<String>,
    /// One entry per moment.
    pub cuts: Vec<Cut>,
}

impl Cut {
    /// Whether there was something of everything to compare.
    fn compared(&self) -> bool {
        self.features > 0 && self.accounts > 0 && self.fills > 0
    }

    fn verdict(&self) -> &'static str {
        match (self.found.is_empty(), self.compared()) {
            (false, _) => "FAILED",
            (true, false) => "too little to compare",
            (true, true) => "passed",
        }
    }
}

impl LeakReport {
    /// Whether nothing was found, and something was compared.
    pub fn passed(&self) -> bool {
        !self.cuts.is_empty() && self.cuts.iter().all(|c| c.found.is_empty() && c.compared())
    }

    fn verdict(&self) -> &'static str {
        let found = self.cuts.iter().any(|c| !c.found.is_empty());
        match (found, self.passed()) {
            (true, _) => "nothing depends on its future: FAILED",
            (false, false) => {
                "nothing was found that depends on its future, but too little could be compared: NOT SHOWN"
            }
            (false, true) => "nothing depends on its future: passed",
        }
    }
}

/// Changes all bars after each of several moments past the training window (prices, volumes and times, at random, to other
/// valid bars), makes everything again from the bars, and compares to the bit what lies before: the normaliser, features,
/// integer columns, and the ledgers of the agents and of random actions over the held-out bars, with all actions, fills and
/// rewards. Where accounts are ruined before a moment they would tell nothing of it, so others begin shortly before each. The
/// action that is chosen at the moment itself is among what is compared; what becomes of it is not. A fill must also not be better than the bar that it is booked in offered: an order that fills at a price of the bar it was decided at
/// gives itself away where the next bar is another.
///
/// # Errors
/// Bars too few, or the device.
pub fn leak(
    device: &Device,
    dtype: DType,
    config: &Config,
    bars: &Bars,
    agents: &Agents<'_>,
) -> Result<LeakReport, VerifyError> {
    if config.divides_by_time() {
        // The changed bars come later. Which rows lie between two dates may then be others without anything having leaked.
        let splits = Market::prepare(bars.clone(), config)?.splits;
        return leak_of(device, dtype, config, bars, agents, |bars| {
            Ok(Market::prepare_within(bars, config, splits.clone())?)
        });
    }
    leak_of(device, dtype, config, bars, agents, |bars| Ok(Market::prepare(bars, config)?))
}

/// As [`leak`], of a market that is prepared by `prepare`: tests plant faults there.
fn leak_of(
    device: &Device,
    dtype: DType,
    config: &Config,
    bars: &Bars,
    agents: &Agents<'_>,
    prepare: impl Fn(Bars) -> Result<Market, VerifyError>,
) -> Result<LeakReport, VerifyError> {
    let run = |market: &Market, rows: Range<usize>| -> Result<[Ledger; 2], VerifyError> {
        let window = TestWindow { name: "held out".into(), rows };
        let actions = throws(config.seed, window.decisions());
        let backtest = Backtest::new(device, dtype, config, market, window)?;
        Ok([agents.run(&backtest)?, backtest.strategy(&Strategy::scripted("dice", actions))?])
    };
    let look = |bars: Bars| -> Result<Seen, VerifyError> {
        let market = prepare(bars)?;
        let ledgers = run(&market, market.splits.validation.start..market.splits.test.end)?.into();
        Ok(Seen { market, ledgers })
    };
    let mut before = look(bars.clone())?;
    let splits = before.market.splits.clone();
    let (first, last) = (splits.validation.start, splits.test.end - 1);
    if last - first < 2 * CUTS {
        let problem = format!("{} held-out bars are too few: use more data", last - first);
        return Err(VerifyError::Unfit { check: "leakage", problem });
    }
    let whole = before.ledgers.len();
    let mut cuts = Vec::with_capacity(CUTS);
    for k in 0..CUTS {
        let row = first + (last - first) * k / CUTS;
        let mut after = look(change::after(bars, row, config.seed))?;
        let near = row.saturating_sub(NEAR).max(first)..(row + NEAR + 1).min(last + 1);
        before.ledgers.truncate(whole);
        before.ledgers.extend(run(&before.market, near.clone())?);
        after.ledgers.extend(run(&after.market, near)?);
        let mut cut = Cut {
            row,
            time_ns: bars.close_ns[row],
            features: (row + 1 - before.market.features.warmup_rows) * before.market.features.cols,
            accounts: 0,
            fills: 0,
            found: Vec::new(),
        };
        differences(&before, &after, &mut cut);
        cuts.push(cut);
    }
    Ok(LeakReport {
        instrument: before.market.rules.instrument.clone(),
        train: splits.train.clone(),
        stated: bars.extra.iter().map(|c| c.name.clone()).collect(),
        cuts,
    })
}

impl fmt::Display for LeakReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = &self.train;
        writeln!(
            f,
            "{}: trained on rows {start} to {end}; all bars after a row changed at random",
            self.instrument
        )?;
        for cut in &self.cuts {
            let Cut { row, features, accounts, fills, .. } = cut;
            let verdict = cut.verdict();
            writeln!(
                f,
                "  row {row}: {features} feature values and {accounts} accounts before it compared, {fills} fills after it: {verdict}"
            )?;
            for what in &cut.found {
                writeln!(f, "    {what}")?;
            }
        }
        if !self.stated.is_empty() {
            let names = self.stated.join(", ");
            writeln!(
                f,
                "  that values of {names} were known at their bars' closes is the file's statement, and not checked"
            )?;
        }
        write!(f, "  {}", self.verdict())
    }
}
