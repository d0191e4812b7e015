//! Losses.

mod value_head;

pub use value_head::{HeadInput, HeadLoss, HeadShape, LossTotal, Outcome, head_act, head_loss};
