//! Does any cent appear or get lost?

mod desk;
#[cfg(test)]
mod tests;

use crate::{VerifyError, dice::throws};
use desk::Desk;
use foxhunt_backtest::{Backtest, Strategy, TestWindow};
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_data::Bars;
use foxhunt_device::Device;
use foxhunt_ledger::{Ledger, MemberInfo, reconcile};
use foxhunt_market::{FillRow, LedgerRow, RuleBook};
use foxhunt_train::{Config, Market};
use std::fmt;

/// Environments of random play.
const ENVS: usize = 64;
/// Decisions of each.
const STEPS: usize = 400;
/// Decisions of an episode, so that many begin and end.
const EPISODE: usize = 50;
/// Members of a random ledger.
const MEMBERS: u64 = 8;
/// ln 0.01, 2^-20, rounded towards zero.
const FLOOR_Q20: i32 = -4_828_870;

/// What one set of rules showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// The rules in a few words.
    pub rules: &'static str,
    /// Decisions of the training environments, each booked a second time.
    pub decisions: usize,
    /// Their fills.
    pub fills: usize,
    /// Their episodes.
    pub episodes: usize,
    /// Bars of the ledger that was reconciled.
    pub bars: usize,
    /// Its fills.
    pub ledger_fills: usize,
    /// What does not add up, the first of each kind.
    pub found: Vec<String>,
}

/// What was booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoneyReport {
    /// Instrument.
    pub instrument: String,
    /// One entry per set of rules.
    pub played: Vec<Played>,
}

impl MoneyReport {
    /// Whether everything added up, and there was something to add.
    pub fn passed(&self) -> bool {
        !self.played.is_empty()
            && self.played.iter().all(|p| p.found.is_empty() && p.fills > 0 && p.ledger_fills > 0)
    }
}

/// What tests plant: a change to what a kernel wrote, before it is checked.
struct Plant<'a> {
    /// To a row and its legs, of one decision of the training environments.
    row: &'a dyn Fn(&mut LedgerRow, &mut [FillRow]),
    /// To the equity that replay keeps of it.
    equity: &'a dyn Fn(&mut i64),
    /// To a backtest's ledger.
    ledger: &'a dyn Fn(&mut Ledger),
}

/// Plays at random by the market's rules, and by harder ones (its largest leverage and more, stops, half the volume), on the
/// training window:
///
/// - through the kernel that trains, each decision also through the kernel that writes rows and fills; a cash-flow book that
///   knows fills alone must agree with position, fees, cash and equity after every decision, and the environment's account
///   and its replay row with both, to the unit;
/// - through a backtest, whose ledger must reconcile, and whose rewards must add up to the growth of equity.
///
/// # Errors
/// Bars too few, or the device.
pub fn money(
    device: &Device,
    dtype: DType,
    config: &Config,
    bars: &Bars,
) -> Result<MoneyReport, VerifyError> {
    money_with(device, dtype, config, bars, &Plant { row: &|_, _| {}, equity: &|_| {}, ledger: &|_| {} })
}

fn money_with(
    device: &Device,
    dtype: DType,
    config: &Config,
    bars: &Bars,
    plant: &Plant<'_>,
) -> Result<MoneyReport, VerifyError> {
    let mut market = Market::prepare(bars.clone(), config)?;
    let own = market.rules.clone();
    let hard = harder(&own);
    let mut played = Vec::new();
    for (name, rules) in [("the market's own", own), ("more leverage, stops, less volume", hard)] {
        market.rules = rules;
        let mut out = Played {
            rules: name,
            decisions: 0,
            fills: 0,
            episodes: 0,
            bars: 0,
            ledger_fills: 0,
            found: Vec::new(),
        };
        play(device, dtype, config, &market, plant, &mut out)?;
        backtest(device, dtype, config, &market, plant, &mut out)?;
        played.push(out);
    }
    Ok(MoneyReport { instrument: market.rules.instrument.clone(), played })
}

/// Rules under which stops, liquidations and ruin happen.
fn harder(own: &RuleBook) -> RuleBook {
    RuleBook {
        max_leverage_e4: own.max_leverage_e4.saturating_mul(50).min(1_000_000),
        stop_atr_e4: 15_000,
        participation_cap_e4: (own.participation_cap_e4 / 2).max(1),
        ruin_e4: 100,
        ..own.clone()
    }
}

/// Random play of the environments that train.
fn play(
    device: &Device,
    dtype: DType,
    config: &Config,
    market: &Market,
    plant: &Plant<'_>,
    out: &mut Played,
) -> Result<(), VerifyError> {
    let mut desk = Desk::new(device, dtype, config, market)?;
    for step in 0..STEPS as u64 {
        desk.step(config.seed, step, plant, out)?;
    }
    Ok(())
}

/// A random ledger, reconciled.
fn backtest(
    device: &Device,
    dtype: DType,
    config: &Config,
    market: &Market,
    plant: &Plant<'_>,
    out: &mut Played,
) -> Result<(), VerifyError> {
    let window = TestWindow { name: "train".into(), rows: market.splits.train.clone() };
    let one = Strategy::scripted("dice", Vec::new());
    let throw = |id| throws(member_seed(config.seed, id), window.decisions());
    let dice = Strategy {
        members: (0..MEMBERS).map(|id| MemberInfo { id, ..one.members[0].clone() }).collect(),
        actions: (0..MEMBERS).map(throw).collect(),
        ..one
    };
    let backtest = Backtest::new(device, dtype, config, market, window)?;
    let mut ledger = backtest.strategy(&dice)?;
    (plant.ledger)(&mut ledger);
    (out.bars, out.ledger_fills) = (ledger.bars.len(), ledger.fills.len());
    if let Err(e) = reconcile(&ledger) {
        out.note("the ledger", || e.to_string());
    }
    for member in 0..ledger.members() {
        rewards(&ledger, member, out);
    }
    Ok(())
}

/// Rewards add up to the growth of equity. Each is rounded to 2^-20, and made in F32.
fn rewards(ledger: &Ledger, member: u32, out: &mut Played) {
    let rows = ledger.bars_of(member);
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
    if last.equity <= 0 {
        return; // no logarithm
    }
    let sum: i64 = rows.iter().map(|r| i64::from(r.reward_q20)).sum();
    let magnitude: f64 = rows.iter().map(|r| f64::from(r.reward_q20).abs()).sum();
    let grown = (last.equity as f64 / first.equity as f64).ln() * f64::from(1 << 20);
    let allowed = 0.5 * rows.len() as f64 + magnitude / f64::from(1 << 21);
    // The last may be the floor of ln 0.01, which says less than was lost.
    if (sum as f64 - grown).abs() > allowed && last.reward_q20 > FLOOR_Q20 {
        out.note("rewards", || format!("{sum} summed are not the growth of equity, {grown:.0} (2^-20)"));
    }
}

impl Played {
    /// Keeps the first finding about each thing.
    fn note(&mut self, about: &str, what: impl FnOnce() -> String) {
        if !self.found.iter().any(|f| f.starts_with(about)) {
            self.found.push(format!("{about}: {}", what()));
        }
    }
}

impl fmt::Display for MoneyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: random play, every decision booked twice", self.instrument)?;
        for p in &self.played {
            let Played { rules, decisions, fills, episodes, bars, ledger_fills, found } = p;
            let verdict = if found.is_empty() { "passed" } else { "FAILED" };
            writeln!(
                f,
                "  {rules}: {decisions} decisions, {fills} fills, {episodes} episodes; a ledger of {bars} bars, \
                 {ledger_fills} fills: {verdict}"
            )?;
            for what in found {
                writeln!(f, "    {what}")?;
            }
        }
        write!(f, "  no cent appears or is lost: {}", if self.passed() { "passed" } else { "FAILED" })
    }
}
