//! The standard benchmark workloads.

mod step;

pub use step::{StepBench, StepMemory, StepPlan, StepResult};
