//! The standard benchmark workloads.

mod step;

pub use step::{StepBench, StepPlan, StepResult};
