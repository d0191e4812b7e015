//! What a report is made from.

use std::path::PathBuf;

use foxhunt_ledger::{CombineError, Ledger, ReconcileError};

/// Everything a report shows.
#[derive(Clone, Copy, Debug)]
pub struct ReportInput<'a> {
    /// The backtest of the agent, one or several members.
    pub ledger: &'a Ledger,
    /// Index of the member that the validation window chose; none where nothing was chosen.
    pub chosen: Option<u32>,
    /// Backtests of other strategies over the same window at equal costs, buy-and-hold first.
    pub baselines: &'a [Ledger],
    /// The same policy in a market that is dearer, slower or thinner; may be empty.
    pub stress: &'a [StressLine],
    /// The folds whose chosen members' decisions the ledger carries out, in order; empty where there are none.
    pub folds: &'a [PartLine],
    /// How training went, one per member; may be empty.
    pub curves: &'a [LearningCurve],
    /// The resolved configuration as TOML.
    pub config_toml: &'a str,
}

/// The policy of the agent under other circumstances.
#[derive(Clone, Debug)]
pub struct StressLine {
    /// Stable key, for files.
    pub key: String,
    /// Name for people.
    pub label: String,
    /// Whether the policy decided again; or recorded decisions were carried out again.
    pub again: bool,
    /// Its backtest; or why there is none.
    pub ledger: Result<Ledger, String>,
}

/// A part of a run that has members and a page of its own: a fold, or one of several instruments.
#[derive(Clone, Debug)]
pub struct PartLine {
    /// First and last close of the training window, ns UTC; nothing where nobody was trained.
    pub train: Option<[i64; 2]>,
    /// Of the validation window.
    pub validation: Option<[i64; 2]>,
    /// Of the test window.
    pub test: [i64; 2],
    /// What was chosen, in words.
    pub chosen: String,
    /// Where the part's own page is, relative to this one.
    pub page: String,
    /// The backtest of all its members on its test window.
    pub ledger: Ledger,
    /// Index of the chosen member there.
    pub member: u32,
}

/// One of several instruments of a run.
#[derive(Clone, Debug)]
pub struct MarketLine {
    /// Its name in the run.
    pub name: String,
    /// Windows, choice and backtest; of a walk-forward run the account through all test windows.
    pub part: PartLine,
    /// Baselines over the same window at equal costs, buy and hold first.
    pub baselines: Vec<Ledger>,
    /// The chosen member alone under stress, by the same keys in all instruments; may be empty.
    pub stress: Vec<StressLine>,
}

/// How one member's training went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearningCurve {
    /// Index of the member in the ledger's header.
    pub member: u32,
    /// Epochs in order.
    pub points: Vec<EpochPoint>,
}

/// One epoch of training. What is not finite is left out of the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochPoint {
    /// Number of the epoch.
    pub epoch: u32,
    /// Mean loss.
    pub loss: f64,
    /// Mean log return of the episodes that ended.
    pub episode_return: f64,
    /// Share of random actions, where actions are epsilon-greedy.
    pub epsilon: f64,
    /// Temperature, where actions are drawn from a softmax.
    pub temperature: Option<f64>,
    /// Share of target returns beyond the support of the value distribution.
    pub edge_share: f64,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A ledger contradicts itself, so nothing made from it could be trusted.
    #[error("the ledger of {which} does not reconcile")]
    Reconcile {
        /// `the agent`, or the baseline's name.
        which: String,
        /// Where.
        #[source]
        source: ReconcileError,
    },
    /// The account through all instruments contradicts the ledgers that it is the sum of.
    #[error("the account through all instruments does not add up")]
    Combine {
        /// Where.
        #[source]
        source: CombineError,
    },
    /// The file system refused.
    #[error("cannot write {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
}
