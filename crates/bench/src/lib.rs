//! The standard benchmark workloads: one file each, one result each, all with the same setting, work and share of what the
//! machine can do.

mod backtest;
mod collect;
mod epoch;
mod error;
mod machine;
mod market;
mod network;
mod rate;
mod setting;
mod soak;
mod step;
mod table;
mod timing;
mod work;

pub use backtest::{BacktestBench, BacktestResult};
pub use collect::{CollectBench, CollectResult};
pub use epoch::{EpochBench, EpochResult};
pub use error::BenchError;
pub use machine::{Machine, MachineBench, MachineResult};
pub use market::{BAR_SECONDS, random_walk};
pub use network::{Network, forward_operations, learn_operations};
pub use rate::Rate;
pub use setting::{COMMIT, Setting};
pub use soak::{Soak, SoakResult};
pub use step::{StepBench, StepMemory, StepPlan, StepResult, step_shape};
pub use table::{Outcome, header, json, row};
pub use timing::Timing;
pub use work::{Work, work};
