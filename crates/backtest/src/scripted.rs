//! Runs of actions and of exposures that are given: no network, the same ledger on every device.

use crate::{
    Backtest, BacktestError, Exposures, Strategy,
    backtest::Compiled,
    exposures::{leverage_e4, nearest_level, sent},
    header::Run,
    recorded,
};
use foxhunt_env::Buffer;
use foxhunt_kernels::{Element, market::Rules};
use foxhunt_ledger::{Ledger, MemberInfo};
use foxhunt_train::in_plan;

/// The one member of a script.
pub(crate) fn single(name: &str) -> MemberInfo {
    MemberInfo { id: 0, label: name.to_owned(), seed: 0, reward_unit: 1.0 }
}

impl Backtest<'_> {
    /// Actions that are given. Needs no network: equal on every device and in every storage type.
    ///
    /// # Errors
    /// Actions that don't exist or don't reach to where an account stops, or the device.
    pub fn strategy(&self, strategy: &Strategy) -> Result<Ledger, BacktestError> {
        strategy.check()?;
        let compiled = self.scripted(&strategy.members, &strategy.actions)?;
        let baseline = strategy.baseline.clone();
        let run = Run { members: &strategy.members, baseline, seed: strategy.seed, trials: self.trials };
        let ledger = self.play(&compiled, run)?;
        for (member, actions) in strategy.actions.iter().enumerate() {
            let needed = ledger.bars_of(member as u32).len().saturating_sub(1);
            if needed > actions.len() {
                return Err(BacktestError::TooFewActions { member, given: actions.len(), needed });
            }
        }
        Ok(ledger)
    }

    /// Target exposures that are given, kept to 2.5e-5 of equity. Of an action the ledger shows the nearest of the nine
    /// levels, since it knows no others.
    ///
    /// # Errors
    /// Targets that are not one for each decision, and the device's.
    pub fn exposures(&self, given: &Exposures) -> Result<Ledger, BacktestError> {
        let decisions = self.window.decisions();
        given.check(decisions)?;
        let actions: Vec<Vec<[u8; 3]>> =
            given.targets.iter().map(|t| t.iter().map(|x| sent(*x)).collect()).collect();
        let compiled = self.scripted(&given.members, &actions)?;
        let rules = self.rules.row()?;
        compiled.runtime.run("begin", 1)?;
        for k in 0..decisions {
            let row = |t: &Vec<f64>| Rules { leverage_e4: leverage_e4(t[k], rules.leverage_e4), ..rules };
            compiled.env.write(Buffer::Rules, &given.targets.iter().map(row).collect::<Vec<_>>())?;
            compiled.runtime.run("step", 1)?;
        }
        let baseline = Some(given.name.clone());
        let run = Run { members: &given.members, baseline, seed: 0, trials: self.trials };
        let mut ledger = self.close(&compiled, run)?;
        let mut at = vec![0_usize; given.members.len()];
        for row in &mut ledger.bars {
            let member = row.member as usize;
            // The opening row has no decision behind it.
            if let Some(target) = at[member].checked_sub(1).and_then(|k| given.targets[member].get(k)) {
                row.action.exposure = nearest_level(*target);
            }
            at[member] += 1;
        }
        ledger.header.assumptions.push(format!(
            "{} Targets are kept to 2.5e-5 of equity, then rounded towards flat to whole lots; they are sent as market \
             orders at the open of the next bar. The ledger's actions show the nearest of nine levels.",
            given.words
        ));
        Ok(ledger)
    }

    /// What a ledger tells of, again: with the same window and rules the result is the same ledger.
    ///
    /// # Errors
    /// As [`Backtest::strategy`].
    pub fn replay(&self, ledger: &Ledger) -> Result<Ledger, BacktestError> {
        self.clone().with_trials(ledger.header.trials).strategy(&recorded(ledger))
    }

    /// A program that takes `actions`, then flat where they end.
    fn scripted(&self, members: &[MemberInfo], actions: &[Vec<[u8; 3]>]) -> Result<Compiled, BacktestError> {
        let ids: Vec<u64> = members.iter().map(|m| m.id).collect();
        let mut bench = self.bench(&ids)?;
        let decisions = self.window.decisions();
        let table = bench.plan.buffer("recorded", Element::U8, decisions, 3);
        bench.plan.program("step");
        let env = bench.env.clone();
        bench.plan.run_foreign("env.act", &[bench.envs, table], &[bench.actions], move |cx| {
            env.act_recorded(cx.view(table)).map(|c| vec![c]).map_err(in_plan)
        });
        let compiled = self.lower(bench)?;
        let mut bytes = Vec::with_capacity(ids.len() * decisions * 3);
        for actions in actions {
            let given = actions.iter().copied().take(decisions);
            let rest = std::iter::repeat_n(crate::FLAT, decisions.saturating_sub(actions.len()));
            bytes.extend(given.chain(rest).flatten());
        }
        compiled.runtime.write_raw::<u8>(table, &bytes)?;
        Ok(compiled)
    }
}
