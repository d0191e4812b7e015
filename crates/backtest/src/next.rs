//! The next order: what members would do at the close of a window's last bar, with any account.

use crate::{Backtest, BacktestError};
use foxhunt_env::{Buffer, Env};
use foxhunt_market::{
    Account, BRANCH_ACTIONS, Rules,
    reference::{limit_price, mark},
};
use foxhunt_nn::{Net, Runtime};

/// The account that a decision is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Lots, short below 0; taken at the close of the decision, so that nothing is unrealised.
    pub position: i32,
    /// Money units.
    pub equity: i64,
}

/// What one member would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Expected discounted reward of each action of each branch: nine exposures, three order types, three urgencies.
    pub values: [Vec<f32>; 3],
    /// The action with the largest value of each branch, ties to the lowest number.
    pub action: [u8; 3],
    /// Lots to hold.
    pub target: i32,
    /// Lots to trade: target less position; 0 where `banded`.
    pub order: i64,
    /// Whether the order is too small to be sent.
    pub banded: bool,
    /// The limit of a maker or IOC order, price units: the price that a maker asks for, the worst that an IOC order takes.
    pub limit: Option<i32>,
}

impl Backtest<'_> {
    /// What the members with the ids `ids` do at the close of the window's last bar: the observation, network and rules of a
    /// backtest. A backtest whose window begins at that bar makes this decision first, if the account is fresh.
    ///
    /// # Errors
    /// As [`Backtest::agents`].
    pub fn next(
        &self,
        ids: &[u64],
        holding: Holding,
        fill: impl FnOnce(&Runtime, &Net) -> Result<(), Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<Vec<Decision>, BacktestError> {
        let mut bench = self.bench(ids)?;
        let (net, values, greedy) = self.acting(&mut bench, |net, plan, x| net.act(plan, "act", x))?;
        let runtime = bench.plan.compile(self.device, foxhunt_nn::Options::default())?;
        fill(&runtime, &net).map_err(BacktestError::Weights)?;

        let last = self.window.rows.end - 1;
        let seen = &self.market.table.bars[last];
        let context = self.market.table.context[last];
        let rules = self.rules.row()?;
        let close = mark(seen);
        let account = Account {
            cash: holding.equity,
            peak: holding.equity,
            position: holding.position,
            basis: i64::from(holding.position) * i64::from(close),
            // Held at this close for the first time.
            bars: u32::from(holding.position != 0),
            ..Account::default()
        };
        let state = Env {
            account,
            bar: last as u32,
            end: last as u32,
            volatility_e9: context.volatility_e9.max(self.market.volatility_floor_e9),
            ..Env::default()
        };
        bench.env.write(Buffer::Envs, &vec![state; ids.len()])?;
        runtime.run("step", 1)?;
        self.device.synchronize()?;
        let values = runtime.read(values)?;
        let greedy: Vec<u8> = runtime.read_raw(greedy)?;
        let branches: usize = BRANCH_ACTIONS.iter().sum();
        let of = |(values, greedy): (&[f32], &[u8])| {
            let mut rest = values.iter().copied();
            let values = BRANCH_ACTIONS.map(|n| rest.by_ref().take(n).collect());
            let action = [greedy[0], greedy[1], greedy[2]];
            let (target, banded) = order(&rules, &holding, close, action[0]);
            let order = if banded { 0 } else { i64::from(target) - i64::from(holding.position) };
            // As it is sent.
            let kind = if rules.market_orders == 1 { 0 } else { action[1] };
            let limit =
                limit_price(&rules, seen, order > 0, [action[0], kind, action[2]]).filter(|_| order != 0);
            Decision { values, action, target, order, banded, limit }
        };
        Ok(values.chunks(branches).zip(greedy.chunks(3)).map(of).collect())
    }
}

/// Target lots of an exposure, and whether the way there is too short to be sent: market.md 2.2.
fn order(r: &Rules, holding: &Holding, close: i32, exposure: u8) -> (i32, bool) {
    let quarters = i128::from(exposure) - 4;
    let wanted = quarters.abs() * i128::from(r.leverage_e4) * i128::from(holding.equity.max(0))
        / (40_000 * i128::from(close) * i128::from(r.tv));
    let lots = wanted.min(i128::from(r.max_position)) as i32;
    let target = if quarters < 0 { -lots } else { lots };
    let order = (i128::from(target) - i128::from(holding.position)).abs();
    let larger = i128::from(target.unsigned_abs().max(holding.position.unsigned_abs()));
    (target, target != 0 && order * 10_000 < i128::from(r.band_bp) * larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases 1 and 21 of market.md 8.
    #[test]
    fn orders_are_those_of_the_rules() {
        let rules = foxhunt_market::RuleBook { max_leverage_e4: 20_000, ..Default::default() }.row().unwrap();
        let target =
            |exposure, equity, close| order(&rules, &Holding { position: 0, equity }, close, exposure).0;
        assert_eq!((target(1, 9_999_000, 10_010), target(8, 9_999_000, 10_010)), (-149, 199));
        assert_eq!((target(8, -5, 10_010), target(4, 9_999_000, 10_010)), (0, 0));
        // Long 100: targets 104, 105, 106 and 0 of a band of 5 %.
        for (lots, dropped) in [(104, true), (105, true), (106, false), (0, false)] {
            let holding = Holding { position: 100, equity: lots * 50_000 };
            assert_eq!(order(&rules, &holding, 10_000, 8), (lots as i32, dropped), "{lots}");
        }
    }

    /// Cases 6 to 8 of market.md 8: h is 5 units, ticks of 3.
    #[test]
    fn limits_are_those_of_the_rules() {
        let rules = foxhunt_market::RuleBook { tick: 3, ..Default::default() }.row().unwrap();
        let seen = foxhunt_market::Bar { bid: [10_000; 4], ask: [10_000; 4], ..Default::default() };
        let of = |kind, buy| [0, 1, 2].map(|urgency| limit_price(&rules, &seen, buy, [8, kind, urgency]));
        assert_eq!(of(0, true), [None; 3]);
        // C -+ 5h, 3h, h, to the grid of ticks away from the market.
        assert_eq!(of(1, true), [Some(9_975), Some(9_984), Some(9_993)]);
        assert_eq!(of(1, false), [Some(10_026), Some(10_017), Some(10_005)]);
        assert_eq!(of(2, true), [Some(10_000), Some(10_010), Some(10_020)]);
        assert_eq!(of(2, false), [Some(10_000), Some(9_990), Some(9_980)]);
    }
}
