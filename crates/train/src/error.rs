use foxhunt_data::DataError;
use foxhunt_device::DeviceError;
use foxhunt_env::EnvError;
use foxhunt_features::FeatureError;
use foxhunt_market::{RuleError, TableError};
use foxhunt_nn::PlanError;

/// What can go wrong in a training run.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A configuration that can't be used.
    #[error("{place}: {what}")]
    Config {
        /// File or option.
        place: String,
        /// What is wrong and what to do.
        what: String,
    },
    /// Data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Features or windows.
    #[error(transparent)]
    Features(#[from] FeatureError),
    /// Rules of the market.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// The bar table.
    #[error("the bars of {file}")]
    Table {
        /// Whose bars.
        file: String,
        /// What is wrong with them.
        #[source]
        source: TableError,
    },
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
