use foxhunt_backtest::BacktestError;
use foxhunt_device::DeviceError;
use foxhunt_market::RuleError;
use foxhunt_nn::PlanError;
use foxhunt_train::TrainError;

/// Why a known market could not be made, solved or played.
#[derive(Debug, thiserror::Error)]
pub enum KnownError {
    /// A name that no market has.
    #[error("there is no known market {name:?}: they are {known}")]
    Name {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Sizes or numbers that the solver can't work with.
    #[error("known market {market}: {what}")]
    Unfit {
        /// Which market.
        market: &'static str,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// The optimal policy's account in the backtest is not the one that it was decided on: a fault of the program.
    #[error(
        "known market {market}: at decision {decision} the backtest holds {backtest}, the reference {reference}"
    )]
    Diverged {
        /// Which market.
        market: &'static str,
        /// First decision whose outcome differs, from 0.
        decision: usize,
        /// Equity in money and lots in the backtest.
        backtest: String,
        /// The same in the reference.
        reference: String,
    },
    /// A backtest.
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    /// Preparation or training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Rules that can't be kept.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// Launches of the physics.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
