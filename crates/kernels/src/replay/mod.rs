//! Replay.

mod column;

pub use column::{ColumnGather, column_gather};
