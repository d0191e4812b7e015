//! Launchers of the fused step of a branching network: kernels for one kind of GPU, beside the plan's span.

mod dqn;
mod dqn_act;
mod dqn_mean;
mod dqn_rows;
mod dqn_weights;
#[cfg(test)]
mod tests;

pub use dqn::{DqnNet, DqnShape, GRADIENT_COLUMNS};
pub use dqn_act::{ACTING_BLOCKS, DqnAct, dqn_act};
pub use dqn_mean::{dqn_mean, mean_rows};
pub use dqn_rows::{DqnRows, dqn_rows};
pub use dqn_weights::{DqnWeights, dqn_weights, weight_partials};
