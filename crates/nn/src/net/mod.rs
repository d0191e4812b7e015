//! Networks, one file each.

mod branching_q;

pub use branching_q::{BranchingQ, BranchingQConfig};
