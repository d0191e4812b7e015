use crate::{Buffer, EnvError, Environments};
use foxhunt_device::Command;
use foxhunt_kernels::{
    View,
    env::{
        EnvBacktest, EnvBacktestActions, env_backtest, env_backtest_actions, env_backtest_begin,
        env_backtest_close,
    },
};

/// Where a backtest writes: buffers of whoever runs it.
#[derive(Clone, Debug)]
pub struct LedgerViews {
    /// [`foxhunt_kernels::market::LedgerRow`] `[capacity, E]`: row k is decision k of the window.
    pub rows: View,
    /// [`foxhunt_kernels::market::FillRow`] `[capacity, E * 5]`: the legs of the same row.
    pub fills: View,
}

/// The commands of a backtest: each environment goes through its member's whole window once.
impl Environments {
    /// Sets every environment at its window's first decision with a fresh account.
    ///
    /// # Errors
    /// Buffers that don't fit, as for the commands below.
    pub fn backtest_begin(&self, ledger: &LedgerViews) -> Result<Command, EnvError> {
        let launch = env_backtest_begin(self.dtype(), self.members(), &self.backtesting(ledger))?;
        Ok(Command::Launch(launch))
    }

    /// Carries out [`Buffer::Actions`] and writes one row of the ledger; nothing where an environment has stopped.
    ///
    /// # Errors
    /// As above.
    pub fn backtest_step(&self, ledger: &LedgerViews) -> Result<Command, EnvError> {
        Ok(Command::Launch(env_backtest(self.dtype(), self.members(), &self.backtesting(ledger))?))
    }

    /// Closes what is still held at the close where each environment stands, into the last row.
    ///
    /// # Errors
    /// As above.
    pub fn backtest_close(&self, ledger: &LedgerViews) -> Result<Command, EnvError> {
        let launch = env_backtest_close(self.dtype(), self.members(), &self.backtesting(ledger))?;
        Ok(Command::Launch(launch))
    }

    /// Writes [`Buffer::Actions`] from `recorded`, U8 `[K, 3]`, by each environment's place in its window.
    ///
    /// # Errors
    /// As above.
    pub fn act_recorded(&self, recorded: &View) -> Result<Command, EnvError> {
        let x = EnvBacktestActions {
            env: self.view(Buffer::Envs),
            member: self.view(Buffer::Members),
            recorded,
            actions: self.view(Buffer::Actions),
        };
        Ok(Command::Launch(env_backtest_actions(self.dtype(), self.members(), &x)?))
    }

    fn backtesting<'a>(&'a self, ledger: &'a LedgerViews) -> EnvBacktest<'a> {
        EnvBacktest {
            env: self.view(Buffer::Envs),
            member: self.view(Buffer::Members),
            rules: self.view(Buffer::Rules),
            bars: self.view(Buffer::Bars),
            context: self.view(Buffer::Context),
            actions: self.view(Buffer::Actions),
            rows: &ledger.rows,
            fills: &ledger.fills,
        }
    }
}
