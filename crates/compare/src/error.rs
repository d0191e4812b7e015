use crate::Arm;
use foxhunt_backtest::BacktestError;
use foxhunt_checkpoint::CheckpointError;
use foxhunt_device::DeviceError;
use foxhunt_ledger::ReconcileError;
use foxhunt_nn::PlanError;
use foxhunt_train::TrainError;
use std::{io, path::PathBuf};

/// What can go wrong in a comparison.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// Results that would be mixed with what isn't theirs.
    #[error("{0}")]
    Refused(String),
    /// A slice that could not be trained or measured.
    #[error(
        "arm {arm}, members {first} to {last}; where it is too large, a smaller --slice trains the same members"
    )]
    Slice {
        /// Whose.
        arm: Arm,
        /// Its first member.
        first: u64,
        /// Its last.
        last: u64,
        /// What went wrong.
        #[source]
        source: Box<CompareError>,
    },
    /// A file of results that is not as this program wrote it.
    #[error("{path} is not as foxhunt wrote it ({what}): remove it, and its members are trained again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The disk.
    #[error("can't {doing} {path}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A ledger that does not add up: a fault of the program.
    #[error(transparent)]
    Ledger(#[from] ReconcileError),
    /// Training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Backtests.
    #[error(transparent)]
    Backtest(#[from] BacktestError),
    /// Weights as a file.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// JSON that can't be written.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl CompareError {
    /// A failure of the disk.
    pub(crate) fn io(doing: &'static str, path: &std::path::Path, source: io::Error) -> Self {
        CompareError::Io { doing, path: path.to_owned(), source }
    }
}
