//! Kernels that exist to be checked: they ship, since it is the user's machine that they check.

mod maths;
mod schedule;

pub use maths::{Function, maths};
pub use schedule::schedule;
