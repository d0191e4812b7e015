//! Made-up ledgers for tests and for looking at reports: a random walk with a weak, slowly changing drift, traded by
//! the rules of the market specification (fills, fees, financing, stops, liquidation, close-out).
//!
//! The account here is kept by the rules' own formulas, not with [`Book`](crate::Book), so that a ledger that
//! reconciles says something about both. Left out: the margin cut and the no-trade band's exact form.

mod account;
mod path;

use crate::header::{DataSource, FORMAT, LedgerHeader, MemberInfo, Rates, Stamps, Window};
use crate::ledger::Ledger;
use crate::rows::Action;
use account::Account;
use path::{Path, Rng};

/// What to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synth {
    /// Seed of prices and decisions.
    pub seed: u64,
    /// Members, each with its own noise in what it sees.
    pub members: u32,
    /// Traded hourly bars (a week has 120).
    pub bars: u32,
    /// Highest leverage in 1e-4.
    pub max_leverage_e4: i32,
    /// Standard deviation of an hourly return in 1e-4.
    pub volatility_bp: f64,
    /// Stop distance in hourly standard deviations; 0 for none.
    pub stop_sd: f64,
    /// True for a buy-and-hold baseline instead of an agent.
    pub buy_and_hold: bool,
}

impl Default for Synth {
    /// Three members over a year of hourly EUR/USD at up to 2×.
    fn default() -> Self {
        Self {
            seed: 7,
            members: 3,
            bars: 6_240,
            max_leverage_e4: 20_000,
            volatility_bp: 9.0,
            stop_sd: 9.0,
            buy_and_hold: false,
        }
    }
}

/// Lots of 1,000 EUR, price unit 5e-6, money in 1e-6 USD: one unit on one lot is 0.005 USD.
const TV: i64 = 5_000;
const START_CASH: i64 = 100_000_000_000;

impl Synth {
    /// Makes the ledger.
    pub fn ledger(&self) -> Ledger {
        let path = Path::new(self.seed, self.bars, self.volatility_bp);
        let header = self.header(&path);
        let mut ledger = Ledger { header, bars: Vec::new(), fills: Vec::new() };
        for member in 0..self.members {
            let mut rng = Rng::new(self.seed ^ (0x9e37 + u64::from(member)) << 17);
            let mut account = Account::new(member, &ledger.header, self.stop_sd);
            account.open(&path.bars[0]);
            let mut action = Action::FLAT;
            for t in 1..path.bars.len() {
                action = self.decide(action, path.drift[t - 1], &mut rng);
                let last = t + 1 == path.bars.len();
                account.step(&path.bars[t - 1], &path.bars[t], action, last);
                if account.ended {
                    break;
                }
            }
            ledger.bars.append(&mut account.rows);
            ledger.fills.append(&mut account.fills);
        }
        ledger
    }

    /// The agent sees the drift through noise and moves its exposure only for a clear change.
    fn decide(&self, held: Action, drift: f64, rng: &mut Rng) -> Action {
        if self.buy_and_hold {
            return Action { exposure: 8, order_type: 0, urgency: 2 };
        }
        let seen = drift + 0.9 * rng.normal();
        let wanted = (4.0 + 2.0 * seen).round().clamp(0.0, 8.0) as u8;
        let draw = rng.uniform();
        if wanted.abs_diff(held.exposure) < 4 || draw < 0.8 {
            return Action { exposure: held.exposure, order_type: 0, urgency: 1 };
        }
        let (order_type, urgency) = match (draw * 1e4) as u32 % 10 {
            0..=2 => (0, 2),
            3..=4 => (0, 1),
            5 => (0, 0),
            6 => (2, 1),
            k => (1, (k - 7) as u8),
        };
        Action { exposure: wanted, order_type, urgency }
    }

    fn header(&self, path: &Path) -> LedgerHeader {
        let member = |m: u32| MemberInfo {
            id: u64::from(m),
            label: if self.buy_and_hold { "buy and hold".into() } else { format!("seed {m}") },
            seed: self.seed + u64::from(m),
            reward_unit: 0.02,
        };
        LedgerHeader {
            format: FORMAT,
            program: "foxhunt synth".into(),
            instrument: "EUR/USD".into(),
            quote_currency: "USD".into(),
            price_unit: "0.000005".into(),
            lot: "1000".into(),
            money_exponent: 6,
            tv: TV,
            start_cash: START_CASH,
            max_leverage_e4: self.max_leverage_e4,
            rates: Rates {
                taker_e7: 200,
                maker_e7: 100,
                liquidation_e7: 50_000,
                financing_long_e7: 180_000,
                financing_short_e7: 60_000,
            },
            assumptions: ASSUMPTIONS.iter().map(|&words| words.into()).collect(),
            data: DataSource {
                name: "random walk".into(),
                sha256: "0".repeat(64),
                stamps: Stamps::Close,
                stamps_inferred: false,
            },
            seed: self.seed,
            window: Window {
                name: "test".into(),
                start_ns: path.bars.first().map_or(0, |bar| bar.time_ns),
                end_ns: path.bars.last().map_or(0, |bar| bar.time_ns),
            },
            members: (0..self.members).map(member).collect(),
            baseline: self.buy_and_hold.then(|| "buy and hold".into()),
            trials: 12,
        }
    }
}

const ASSUMPTIONS: [&str; 8] = [
    "An order decided at the close of a bar fills in the next bar, never in its own.",
    "Half-spread: the largest of 6 units, 0.3 bp of the price and 2 % of the average range; six times that on the \
     first bar after a gap in time.",
    "An order takes at most 10 % of the volume of its bar; impact grows with the square root of its share of the \
     usual volume.",
    "A maker order fills only if the bar trades through its limit by a tick; a touch is not a fill.",
    "Within a bar the adverse extreme comes before any exit: what a bar hides is decided against the trader.",
    "Stops and liquidations ignore the volume cap and pay half-spread and impact of the whole position; a stop that \
     is gapped through fills at the open.",
    "Financing is charged on the whole notional at the last close, by the second.",
    "The backtest ends by closing the position at the last close, with costs.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reconcile::reconcile;
    use crate::rows::{Leg, OrderEnd};

    #[test]
    fn ledgers_reconcile_and_hold_every_leg() {
        let mut legs = Vec::new();
        let mut ends = Vec::new();
        let stormy = Synth {
            seed: 2,
            max_leverage_e4: 300_000,
            volatility_bp: 60.0,
            stop_sd: 0.0,
            ..Synth::default()
        };
        for synth in [Synth::default(), Synth { buy_and_hold: true, members: 1, ..Synth::default() }, stormy]
        {
            let ledger = synth.ledger();
            let attribution = reconcile(&ledger).unwrap();
            for lines in &attribution.members {
                assert_eq!(lines.total(), i128::from(lines.end) - i128::from(lines.start));
            }
            legs.extend(ledger.fills.iter().map(|fill| fill.leg));
            ends.extend(ledger.bars.iter().map(|row| row.order_end));
        }
        for leg in [Leg::Open, Leg::Twap, Leg::Maker, Leg::Stop, Leg::Liquidation, Leg::CloseOut] {
            assert!(legs.contains(&leg), "{leg:?}");
        }
        for end in
            [OrderEnd::Filled, OrderEnd::LimitNotReached, OrderEnd::CancelledByStop, OrderEnd::PartVolume]
        {
            assert!(ends.contains(&end), "{end:?}");
        }
    }

    #[test]
    fn one_seed_one_ledger() {
        let small = Synth { bars: 300, ..Synth::default() };
        assert_eq!(small.ledger(), small.ledger());
        assert_ne!(small.ledger().bars, Synth { seed: 8, ..small }.ledger().bars);
    }
}
