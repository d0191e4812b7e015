//! Layers: forward directly beside backward.

mod bias;
mod elementwise;
mod layer_norm;
mod softmax;

pub use bias::{bias_backward, bias_forward, column_sum};
pub use elementwise::{Activation, activate, activate_backward, sum};
pub use layer_norm::{LayerNorm, layer_norm_backward, layer_norm_forward};
pub use softmax::{softmax_backward, softmax_forward};
