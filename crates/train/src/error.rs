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
    /// One of several instruments.
    #[error("{place}: {source}")]
    Market {
        /// Its key, name and file.
        place: String,
        /// What is wrong with it.
        #[source]
        source: Box<TrainError>,
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
    /// Windows that the bars do not fill.
    #[error("{file}: {what}")]
    Windows {
        /// Whose bars.
        file: String,
        /// What is wrong with the windows.
        what: Box<str>,
    },
    /// The environments.
    #[error(transparent)]
    Env(EnvError),
    /// More memory than the device has.
    #[error(
        "the run does not fit into memory: make population, learn.replay, learn.envs, learn.batch or the network smaller"
    )]
    Memory(#[source] DeviceError),
    /// The plan.
    #[error(transparent)]
    Plan(PlanError),
    /// The device.
    #[error(transparent)]
    Device(DeviceError),
}

impl TrainError {
    /// The same of an instrument at this place, where there is one.
    #[must_use]
    pub fn of_market(self, place: Option<String>) -> Self {
        match place {
            Some(place) => TrainError::Market { place, source: Box::new(self) },
            None => self,
        }
    }
}

impl From<DeviceError> for TrainError {
    fn from(e: DeviceError) -> Self {
        match e {
            e @ DeviceError::OutOfMemory { .. } => TrainError::Memory(e),
            e => TrainError::Device(e),
        }
    }
}

impl From<EnvError> for TrainError {
    fn from(e: EnvError) -> Self {
        match e {
            EnvError::Device(e) => e.into(),
            e => TrainError::Env(e),
        }
    }
}

impl From<PlanError> for TrainError {
    fn from(e: PlanError) -> Self {
        match e {
            PlanError::Device(e) => e.into(),
            e => TrainError::Plan(e),
        }
    }
}

/// What a command of the environments refuses, among a plan's errors: for commands that a plan runs for them.
pub fn in_plan(error: EnvError) -> PlanError {
    match error {
        EnvError::Kernel(e) => e.into(),
        EnvError::Device(e) => e.into(),
        other => PlanError::Shape { op: "env", what: other.to_string() },
    }
}
