//! The optimiser's kernels.

mod adamw;

pub use adamw::{AdamW, Hyper, OptimiserState, TILE_PACKS, Tile, adamw, adamw_advance};
