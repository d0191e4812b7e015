//! The same policy where the market is dearer, slower or thinner.

use crate::{Backtest, BacktestError};
use foxhunt_ledger::Ledger;

/// Runs a policy over a backtest with other rules; where it fails or is stopped, with an error of the caller's.
pub type Rerun<'a, E = BacktestError> = dyn FnMut(&Backtest<'_>) -> Result<Ledger, E> + 'a;

/// One line.
#[derive(Debug)]
pub struct StressLine {
    /// Stable key, for files.
    pub key: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Whether the policy decided again, or recorded decisions were carried out again.
    pub again: bool,
    /// What came of it; or why nothing could.
    pub ledger: Result<Ledger, String>,
}

/// Costs times 0, 1, 2 and 3, a bar of delay, and 10 and 100 times the equity. `ledger` is the backtest itself, which costs
/// times 1 are.
///
/// `again` is the policy itself: it sees the account that other costs or another size lead to and decides anew, bar by bar.
/// `late` carries out the decisions that were made without the delay one bar later: had the policy known of the delay it would
/// have decided otherwise, but what is asked is what a late order costs. Capacity is limited by the participation cap and by
/// impact, which grows with the square root of size; where a size does not fit the account's integers the line says so. Costs are
/// those of the rules and the spread that bars quote ([`Backtest::with_costs`]).
///
/// # Errors
/// Those of `again` and `late`. Rules that can't be kept are a line's own.
pub fn stress<E>(
    backtest: &Backtest<'_>,
    ledger: &Ledger,
    again: &mut Rerun<'_, E>,
    late: &mut Rerun<'_, E>,
) -> Result<Vec<StressLine>, E> {
    let dearer = |factor| backtest.clone().with_costs(factor);
    let larger = |factor| {
        let rules = backtest.rules().with_equity(factor);
        rules.validate()?;
        Ok::<_, BacktestError>(backtest.clone().with_rules(rules))
    };
    let changed: [(&'static str, &'static str, Result<Backtest<'_>, BacktestError>); 5] = [
        ("costs_0", "Costs × 0", dearer(0)),
        ("costs_2", "Costs × 2", dearer(2)),
        ("costs_3", "Costs × 3", dearer(3)),
        ("equity_10", "Equity × 10", larger(10)),
        ("equity_100", "Equity × 100", larger(100)),
    ];
    let mut lines = Vec::with_capacity(7);
    for (key, label, changed) in changed {
        let ledger = match changed {
            Ok(changed) => Ok(again(&changed)?),
            Err(problem) => Err(problem.to_string()),
        };
        lines.push(StressLine { key, label, again: true, ledger });
    }
    let line = |key, label, again, ledger| StressLine { key, label, again, ledger: Ok(ledger) };
    lines.insert(1, line("costs_1", "Costs × 1", true, ledger.clone()));
    lines.insert(4, line("delay_1", "One bar of delay", false, late(backtest)?));
    Ok(lines)
}
