use foxhunt_data::DataError;
use foxhunt_device::DeviceError;
use foxhunt_env::EnvError;
use foxhunt_market::{RuleError, TableError};
use foxhunt_nn::PlanError;
use foxhunt_train::TrainError;

/// Why there is no ledger.
#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    /// A stretch that can't be traded.
    #[error("the {name} window, rows {start} to {end}: {problem}")]
    Window {
        /// Its name.
        name: String,
        /// First row.
        start: usize,
        /// Row after the last.
        end: usize,
        /// What is wrong.
        problem: String,
    },
    /// Actions that don't reach to the end.
    #[error("member {member} has {given} actions, but {needed} decisions were to be made")]
    TooFewActions {
        /// Number of the member.
        member: usize,
        /// Its actions.
        given: usize,
        /// Decisions until its account stopped.
        needed: usize,
    },
    /// An action that does not exist.
    #[error(
        "action {row} of member {member} is {action:?}: exposure is 0 to 8, order type and urgency 0 to 2"
    )]
    Action {
        /// Number of the member.
        member: usize,
        /// Number of the decision.
        row: usize,
        /// Exposure, order type, urgency.
        action: [u8; 3],
    },
    /// A target that is not in the range.
    #[error("target {row} of member {member} is {exposure}: exposures are -1 to 1")]
    Exposure {
        /// Number of the member.
        member: usize,
        /// Number of the decision.
        row: usize,
        /// The target.
        exposure: f64,
    },
    /// No member, or members without actions.
    #[error("a backtest of {members} members with {given} lists of actions")]
    Members {
        /// Members.
        members: usize,
        /// Lists.
        given: usize,
    },
    /// The weights could not be put into the plan.
    #[error("the weights")]
    Weights(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The device's ledger holds a number that no rule writes: a fault of the program.
    #[error("bar {bar} of the device's ledger has {what} {value}")]
    Row {
        /// Which bar.
        bar: u32,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: i64,
    },
    /// Preparation.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The calendar of the data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Rules that can't be kept.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// Quotes that can't be what was asked for.
    #[error(transparent)]
    Quotes(#[from] TableError),
    /// The environments.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// The plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
