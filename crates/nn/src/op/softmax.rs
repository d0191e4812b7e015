use super::{Operation, gradient_of};
use crate::{Gradients, Lowering, Plan, PlanError, Tensor};
use foxhunt_device::Command;
use foxhunt_kernels::layer;

/// Softmax of every row, or its logarithm.
pub struct Softmax {
    log: bool,
    x: Tensor,
    y: Tensor,
}

impl Softmax {
    /// Softmax over the columns of `x`; its logarithm if `log`.
    pub fn push(plan: &mut Plan, name: &str, log: bool, x: Tensor) -> Tensor {
        let info = plan.info(x).clone();
        let y = plan.result(name, info.rows, info.cols, &[x]);
        plan.run(Softmax { log, x, y });
        y
    }
}

impl Operation for Softmax {
    fn name(&self) -> &'static str {
        if self.log { "log_softmax" } else { "softmax" }
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.x]
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.y]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (x, y) = (cx.view(self.x), cx.view(self.y));
        Ok(vec![Command::Launch(layer::softmax_forward(cx.dtype(), cx.members(), self.log, x, y)?)])
    }

    fn backward(&self, plan: &mut Plan, gradients: &mut Gradients) -> Result<(), PlanError> {
        if let Some(dy) = gradients.of(plan, self.y)? {
            let rows = plan.info(dy).rows;
            let dx = gradient_of(plan, self.x, rows);
            plan.run(SoftmaxBackward { log: self.log, dy, y: self.y, dx });
            gradients.add(self.x, dx);
        }
        Ok(())
    }
}

struct SoftmaxBackward {
    log: bool,
    dy: Tensor,
    y: Tensor,
    dx: Tensor,
}

impl Operation for SoftmaxBackward {
    fn name(&self) -> &'static str {
        if self.log { "log_softmax.backward" } else { "softmax.backward" }
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.dy, self.y]
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.dx]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (dy, dx) = (cx.view(self.dy), cx.view(self.dx));
        let y = cx.view(self.y).slice_rows(0, dy.rows);
        Ok(vec![Command::Launch(layer::softmax_backward(cx.dtype(), cx.members(), self.log, (dy, &y, dx))?)])
    }
}
