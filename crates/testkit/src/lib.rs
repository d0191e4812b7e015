//! Operations as cases, checked on any device.
//!
//! A case is registered once, in [`cases`], and used in four ways: its results against a reference in F64, its
//! gradients against finite differences of that reference, its bits on one build or device against another, and the
//! guard bytes around its buffers. The test suite runs all cases on the CPU; `foxhunt device --check` runs them on
//! whatever machine the binary is on.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "`!(error <= allowed)` fails on NaN, as it must")]

mod case;
mod cases;
mod check;
mod fused;
mod layer;
mod matrix;
mod numbers;
mod random;

pub use case::{Case, CaseError, Output, Setting};
pub use cases::cases;
pub use check::{CaseReport, allowed, check_case};
pub use fused::{Agreement, FusedCase, check_fused, check_fused_act, fused_bits, fused_cases, fused_repeats};
pub use matrix::Matrix;
pub use numbers::{Measured, Numbers, numbers};
pub use random::Random;
