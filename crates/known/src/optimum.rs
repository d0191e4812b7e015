//! The optimal policy played on a path, and what an agent lost against it.

use crate::{KnownError, KnownMarket, Policy};
use foxhunt_backtest::{Backtest, Ends, Strategy, TestWindow};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_ledger::Ledger;
use foxhunt_market::{
    RuleBook, flag, new_account,
    reference::{self, Unit},
};
use foxhunt_train::Config;

/// Steps to a quarter of exposure that [`KnownMarket::optimum`] solves with: 137 exposures.
const PER_QUARTER: usize = 16;

/// A policy played on a stretch of a known market.
#[derive(Clone, Debug)]
pub struct Played {
    /// Exposure, order type and urgency of each decision.
    pub actions: Vec<[u8; 3]>,
    /// What the backtest recorded of them.
    pub ledger: Ledger,
    /// Log of final over starting equity, after the close-out.
    pub log_return: f64,
}

/// The optimal policy on the test window.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// Exposure, order type and urgency of each decision of the test window.
    pub actions: Vec<[u8; 3]>,
    /// Log of final over starting equity that they lead to on the test window: what regret is a share of.
    pub log_return: f64,
    /// Expected discounted sum of log returns of a flat account, averaged over the chain's stationary distribution.
    pub value: f64,
    /// The policy.
    pub policy: Policy,
    /// The ledger of the actions.
    pub ledger: Ledger,
}

impl Optimum {
    /// What a member of a backtest of the same test window lost against the optimal policy, as a share of what that earned:
    /// `(optimum - total) / optimum`, both logs of final over starting equity. 0 is as good, 1 is as good as never trading,
    /// below 0 is better on this path; infinite for an account that ended without equity, or without rows.
    pub fn regret(&self, ledger: &Ledger, member: u32) -> f64 {
        (self.log_return - log_return(ledger, member)) / self.log_return
    }
}

impl KnownMarket {
    /// The policy that is optimal under the market's own rules for the discount `gamma`.
    ///
    /// # Errors
    /// As [`Policy::solve`].
    pub fn policy(&self, gamma: f64) -> Result<Policy, KnownError> {
        self.policy_under(&self.market.rules, gamma, PER_QUARTER)
    }

    /// The policy that would be optimal under other rules, on a grid of `per_quarter` steps to a quarter of exposure.
    ///
    /// # Errors
    /// As [`Policy::solve`].
    pub fn policy_under(
        &self,
        rules: &RuleBook,
        gamma: f64,
        per_quarter: usize,
    ) -> Result<Policy, KnownError> {
        Policy::solve(self.kind().name, self.chain(), rules, gamma, per_quarter)
    }

    /// The policy that is optimal for `learn.gamma` of `config`, played on the test window.
    ///
    /// An agent maximises discounted returns, and regret is in undiscounted ones; so the yardstick is the policy that is
    /// optimal for the agent's own discount, not the best for the long run: no agent is asked for what it was not told to
    /// want. As the chain is stationary, the mean over its stationary distribution of a policy's discounted value is nearly
    /// its mean reward per bar over 1 - gamma, so that the two differ little.
    ///
    /// # Errors
    /// As [`Policy::solve`] and [`KnownMarket::play`].
    pub fn optimum(&self, config: &Config) -> Result<Optimum, KnownError> {
        let policy = self.policy(config.learn.gamma)?;
        let window = TestWindow::test(&self.market);
        let Played { actions, ledger, log_return } =
            self.play(config, &window, "optimal policy", |z, w| policy.action(z, w))?;
        if log_return <= 0.0 {
            let what = format!("the optimal policy earned {log_return} on the test window: make it longer");
            return Err(KnownError::Unfit { market: self.kind().name, what });
        }
        Ok(Optimum { actions, log_return, value: policy.mean_value(self.chain()), policy, ledger })
    }

    /// Plays `act`, from the state at each close and the exposure then held to an action, on `window`, as a closed loop: its
    /// actions are found by stepping the host's reference of the physics, which is the kernel's bit for bit, and are then
    /// given to a backtest on the CPU, whose account must be the same at every close.
    ///
    /// # Errors
    /// A window that is not in the market, an account that differs.
    pub fn play(
        &self,
        config: &Config,
        window: &TestWindow,
        name: &str,
        act: impl Fn(usize, f64) -> [u8; 3],
    ) -> Result<Played, KnownError> {
        let bars = &self.market.table.bars;
        let inside = window.rows.start < window.rows.end && window.rows.end <= bars.len();
        if !inside {
            let what = format!("rows {:?} of {} are no window", window.rows, bars.len());
            return Err(KnownError::Unfit { market: self.kind().name, what });
        }
        let rules = self.market.rules.row()?;
        let unit = Unit { volatility_e9: 1_000_000, gain_q32: 0 };
        let mut account = new_account(&rules);
        let (mut actions, mut said) = (Vec::new(), Vec::new());
        for t in window.rows.start..window.rows.end - 1 {
            let (seen, bar) = (&bars[t], &bars[t + 1]);
            let close = reference::mark(seen);
            let equity = reference::equity(&rules, &account, close);
            let held = f64::from(account.position) * f64::from(close) * rules.tv as f64;
            let action = act(self.states()[t], held / equity as f64);
            let step = reference::step(&rules, &account, seen, bar, action, unit);
            account = step.account;
            actions.push(action);
            said.push((step.row.equity, step.row.position));
            if step.row.flags & flag::TERMINATED != 0 {
                break;
            }
        }
        let config = self.config(config.clone());
        let device = Device::cpu();
        let backtest = Backtest::new(&device, DType::F32, &config, &self.market, window.clone())?;
        let ledger = backtest.strategy(&Strategy::scripted(name, actions.clone()))?;
        let rows = ledger.bars_of(0);
        // The last row holds the close-out as well.
        let same = |k: usize| rows.get(k + 1).is_some_and(|row| (row.equity, row.position) == said[k]);
        if let Some(k) = (0..said.len().saturating_sub(1)).find(|k| !same(*k)) {
            let show =
                |x: Option<(i64, i32)>| x.map_or("nothing".into(), |(e, p)| format!("{e} and {p} lots"));
            return Err(KnownError::Diverged {
                market: self.kind().name,
                decision: k,
                backtest: show(rows.get(k + 1).map(|row| (row.equity, row.position))),
                reference: show(Some(said[k])),
            });
        }
        let log_return = log_return(&ledger, 0);
        Ok(Played { actions, ledger, log_return })
    }
}

/// Log of final over starting equity of a member: minus infinity where nothing is left, or nothing was recorded.
pub fn log_return(ledger: &Ledger, member: u32) -> f64 {
    Ends::of(ledger, member).map_or(f64::NEG_INFINITY, Ends::log_return)
}
