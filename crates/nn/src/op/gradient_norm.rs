use super::Operation;
use crate::{Lowering, PlanError, Tensor};
use foxhunt_device::Command;
use foxhunt_kernels::optim;

/// Partial squared norms of a net's gradient.
pub(super) struct GradientNorm {
    pub(super) gradient: Tensor,
    pub(super) partial: Tensor,
}

impl Operation for GradientNorm {
    fn name(&self) -> &'static str {
        "gradient_norm"
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.gradient]
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.partial]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (g, partial) = (cx.view(self.gradient), cx.view(self.partial));
        Ok(vec![Command::Launch(optim::gradient_norm(cx.dtype(), cx.members(), g, partial)?)])
    }
}
