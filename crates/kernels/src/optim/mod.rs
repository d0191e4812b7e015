//! The optimiser's kernels.

mod adamw;
mod gradient_norm;

pub use adamw::{AdamSettings, AdamW, Hyper, IMAGE_COLUMNS, OptimiserState, PackId, adamw};
pub use gradient_norm::{gradient_norm, norm_partials};
