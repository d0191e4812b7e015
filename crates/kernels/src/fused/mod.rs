//! Launchers of the fused step of a branching network: kernels for some GPUs, beside the plan's span.

mod dqn;
mod dqn_act;
mod dqn_collect;
mod dqn_mean;
mod dqn_mma_rows;
mod dqn_mma_weights;
mod dqn_rows;
mod dqn_weights;
mod kernels;
#[cfg(test)]
mod tests;

pub use dqn::{DqnNet, DqnShape, GRADIENT_COLUMNS};
pub use dqn_act::{ACTING_BLOCKS, DqnAct, dqn_act};
pub use dqn_collect::{DqnCollect, collects_fast, dqn_collect};
pub use dqn_mean::{dqn_mean, mean_rows};
pub use dqn_mma_rows::dqn_mma_rows;
pub use dqn_mma_weights::dqn_mma_weights;
pub use dqn_rows::{DqnRows, Kept, dqn_rows};
pub use dqn_weights::{DqnWeights, dqn_weights, weight_partials};
pub use kernels::DqnKernels;
