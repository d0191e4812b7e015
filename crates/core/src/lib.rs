//! Numbers that every part shares: BF16, dtypes, the counter-based random generator; and words for what a deserialiser says.
//!
//! These are the host's mirrors of `crates/kernels/cu/base`: tests hold the two together bit for bit.

mod bf16;
mod dtype;
pub mod rng;
mod storage;
mod words;

pub use bf16::Bf16;
pub use dtype::DType;
pub use storage::{Rounding, Storage, Weights};
pub use words::plain_words;
