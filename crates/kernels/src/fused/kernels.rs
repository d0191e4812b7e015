//! Which kernels make the fused step.

use super::{
    DqnRows, DqnShape, DqnWeights, dqn_mma_rows, dqn_mma_weights, dqn_mma_weights::mma_partials, dqn_rows,
    dqn_weights, weight_partials,
};
use crate::KernelError;
use foxhunt_core::DType;
use foxhunt_device::{Device, Launch};
use std::fmt;

/// A pair of kernels that do what a step's span does from the first product to the gradient norm. Both take the same buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DqnKernels {
    /// `dqn_rows.cu` and `dqn_weights.cu`, in products of warpgroups: Hopper, in BF16.
    Hopper,
    /// `dqn_mma_rows.cu` and `dqn_mma_weights.cu`, in products of warps: Ampere and later, in BF16, and in F32 where its products
    /// may be TF32.
    Mma,
}

impl fmt::Display for DqnKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            DqnKernels::Hopper => "hopper",
            DqnKernels::Mma => "mma",
        })
    }
}

impl DqnKernels {
    /// The fastest that run on `device`, if any are faster than the plan's span. In F32 none were where it was measured
    /// (`docs/results/speed.md`).
    pub fn of(device: &Device, dtype: DType, shape: &DqnShape) -> Option<Self> {
        let known = [DqnKernels::Hopper, DqnKernels::Mma];
        known.into_iter().find(|k| dtype == DType::Bf16 && k.run_on(device, dtype, shape))
    }

    /// Whether these do, in this storage type and for this network.
    pub fn run_on(self, device: &Device, dtype: DType, shape: &DqnShape) -> bool {
        let stores = match (self, dtype) {
            (_, DType::Bf16) => true,
            (DqnKernels::Hopper, DType::F32) => false,
            (DqnKernels::Mma, DType::F32) => device.tf32(),
        };
        stores && self.exist_on(device) && shape.fits()
    }

    /// Whether the machine has what they are written for.
    pub fn exist_on(self, device: &Device) -> bool {
        match self {
            DqnKernels::Hopper => device.is_hopper(),
            DqnKernels::Mma => device.capability().is_some_and(|c| c >= 80),
        }
    }

    /// Partial squared norms that [`DqnKernels::weights`] leaves for a batch of `batch`.
    pub fn partials(self, shape: &DqnShape, batch: usize) -> usize {
        match self {
            DqnKernels::Hopper => weight_partials(shape, batch),
            DqnKernels::Mma => mma_partials(shape),
        }
    }

    /// Forward passes, loss, and gradients of activations of a step.
    ///
    /// # Errors
    /// Buffers that don't fit, or a network that the kernel is not written for.
    pub fn rows(
        self,
        dtype: DType,
        members: usize,
        shape: &DqnShape,
        x: &DqnRows<'_>,
    ) -> Result<Launch, KernelError> {
        match self {
            DqnKernels::Hopper => dqn_rows(members, shape, x),
            DqnKernels::Mma => dqn_mma_rows(dtype, members, shape, x),
        }
    }

    /// Gradients of all weights and biases, and their squared norm in parts.
    ///
    /// # Errors
    /// Buffers that don't fit, or a network that the kernel is not written for.
    pub fn weights(
        self,
        dtype: DType,
        members: usize,
        shape: &DqnShape,
        x: &DqnWeights<'_>,
    ) -> Result<Launch, KernelError> {
        match self {
            DqnKernels::Hopper => dqn_weights(members, shape, x),
            DqnKernels::Mma => dqn_mma_weights(dtype, members, shape, x),
        }
    }
}
