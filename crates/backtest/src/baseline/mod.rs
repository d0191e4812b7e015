//! Strategies that stand beside an agent at equal costs: what little thought would have earned.
//!
//! Each is run through the same physics as the agent and has a ledger of its own. Whatever it decides at the close of a bar
//! is known then.

mod moving_average;
mod random_timing;
mod volatility_target;

pub use moving_average::{FAST_DAYS, SLOW_DAYS, moving_average};
pub use random_timing::{DRAWS, random_timing};
pub use volatility_target::volatility_target;

use crate::{Backtest, BacktestError, Exposures, buy_and_hold};
use foxhunt_ledger::Ledger;

/// Every baseline over the window of `backtest`, buy-and-hold first; the random one is matched to `agent`, or to the
/// targets `given` that are its policy. What each does is
/// the last of its ledger's assumptions. No baseline was chosen among others: each has one trial, whatever the agent's.
///
/// # Errors
/// Rules or a device that can't run them.
pub fn baselines(
    backtest: &Backtest<'_>,
    agent: &Ledger,
    given: Option<&Exposures>,
) -> Result<Vec<Ledger>, BacktestError> {
    let backtest = &backtest.clone().with_trials(1);
    let said = |mut ledger: Ledger, words: &str| {
        ledger.header.assumptions.push(words.to_owned());
        ledger
    };
    // A ruined agent has no wishes after its end: to be matched to it, this one trades the bars that the agent lived.
    let lived = agent.bars_of(middle_member(agent)).len().saturating_sub(1);
    let beside = backtest.clone().first(lived);
    let random = match given {
        Some(given) => beside.exposures(&random_timing::random_timing_of(given, agent.header.seed, lived))?,
        None => said(beside.strategy(&random_timing(&beside, agent))?, random_timing::WORDS),
    };
    let decisions = backtest.window().decisions();
    let random = if lived < decisions {
        let words = format!(
            "The agent was ruined after {lived} of {decisions} bars; these draws trade the same {lived} and end there."
        );
        said(random, &words)
    } else {
        random
    };
    Ok(vec![
        said(backtest.strategy(&buy_and_hold(backtest.window()))?, "The target is full long at every close."),
        backtest.exposures(&volatility_target(backtest))?,
        said(backtest.strategy(&moving_average(backtest))?, &moving_average::words(backtest)),
        random,
    ])
}

/// The member in the middle by final equity, ties to the lower number: neither the luckiest nor the worst. It is the one
/// whose details a report shows.
pub fn middle_member(ledger: &Ledger) -> u32 {
    let last = |m: u32| ledger.bars_of(m).last().map_or(i64::MIN, |row| row.equity);
    let mut order: Vec<u32> = (0..ledger.members()).collect();
    order.sort_by_key(|&m| (last(m), m));
    order.get((order.len().max(1) - 1) / 2).copied().unwrap_or(0)
}
