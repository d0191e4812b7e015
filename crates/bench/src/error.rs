use foxhunt_backtest::BacktestError;
use foxhunt_device::DeviceError;
use foxhunt_env::EnvError;
use foxhunt_nn::PlanError;
use foxhunt_train::TrainError;

/// A workload could not be run, or showed what it must not.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Sizes that make no workload.
    #[error("{option}: {what}")]
    Size {
        /// Which option.
        option: &'static str,
        /// What is wrong and what to do.
        what: String,
    },
    /// What a soak is to rule out.
    #[error("after {steps} steps: {what}")]
    Soak {
        /// Steps taken until then.
        steps: u32,
        /// What was seen.
        what: String,
    },
    /// The plan's.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The trainer's.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The backtest's.
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    /// The environments'.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// The device's.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
