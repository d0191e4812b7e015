//! The plan: tensors, operations, autodiff, layers, losses, optimiser. Has never heard of prices.
//!
//! A network or a whole training step is described once as a [`Plan`]: named tensors and operations with shapes. The
//! plan adds the backward pass, lays every buffer in one arena, and is compiled for a device to a [`Runtime`] whose
//! programs run (a captured graph on a GPU). Every plan has a population axis: P members with their own weights, seeds
//! and hyperparameters go through the same launches.

pub mod net;
pub mod op;
mod plan;

pub use plan::{
    Gradients, Init, LowWords, Lowering, Memory, MemoryBytes, MemoryPurpose, Net, NetParam, Options,
    ParamPart, ParamSpec, Plan, PlanError, PlanFault, Runtime, Tensor, TensorInfo,
};
