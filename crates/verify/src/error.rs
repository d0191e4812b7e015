use foxhunt_backtest::BacktestError;
use foxhunt_data::DataError;
use foxhunt_device::DeviceError;
use foxhunt_env::EnvError;
use foxhunt_known::KnownError;
use foxhunt_ledger::ReconcileError;
use foxhunt_market::RuleError;
use foxhunt_metrics::Undefined;
use foxhunt_nn::PlanError;
use foxhunt_train::TrainError;

/// A check that could not be made. What a check finds is in its report, not here.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Data too few, or a configuration that leaves nothing to check.
    #[error("{check} can't be checked: {problem}")]
    Unfit {
        /// Which check.
        check: &'static str,
        /// What is missing, and what to do.
        problem: String,
    },
    /// A ledger that contradicts itself, where a check builds on it.
    #[error("the ledger of {which} does not reconcile")]
    Reconcile {
        /// Whose.
        which: String,
        /// Where.
        #[source]
        source: ReconcileError,
    },
    /// A figure without a meaning.
    #[error("{what} has no value: {reason}")]
    Undefined {
        /// Which figure.
        what: &'static str,
        /// Why.
        reason: Undefined,
    },
    /// A backtest.
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    /// A market with a known answer.
    #[error(transparent)]
    Known(#[from] KnownError),
    /// Preparation or training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Rules that can't be kept.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// Bars.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Environments.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// A plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
