use super::{Operation, gradient_of};
use crate::{Gradients, Lowering, Plan, PlanError, Tensor};
use foxhunt_device::Command;
use foxhunt_kernels::layer::{self, Activation};

/// `y = f(x)`, element by element.
pub struct Activate {
    f: Activation,
    x: Tensor,
    y: Tensor,
}

impl Activate {
    /// Applies `f` to `x`.
    pub fn push(plan: &mut Plan, name: &str, f: Activation, x: Tensor) -> Tensor {
        let info = plan.info(x).clone();
        let y = plan.result(name, info.rows, info.cols, &[x]);
        plan.set_ld(y, info.ld);
        plan.run(Activate { f, x, y });
        y
    }
}

impl Operation for Activate {
    fn name(&self) -> &'static str {
        match self.f {
            Activation::Relu => "relu",
            Activation::Tanh => "tanh",
        }
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.x]
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.y]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (x, y) = (cx.view(self.x), cx.view(self.y));
        Ok(vec![Command::Launch(layer::activate(cx.dtype(), cx.members(), self.f, x, y)?)])
    }

    fn backward(&self, plan: &mut Plan, gradients: &mut Gradients) -> Result<(), PlanError> {
        if let Some(dy) = gradients.of(plan, self.y)? {
            let rows = plan.info(dy).rows;
            let dx = gradient_of(plan, self.x, rows);
            plan.run(ActivateBackward { f: self.f, dy, y: self.y, dx });
            gradients.add(self.x, dx);
        }
        Ok(())
    }
}

struct ActivateBackward {
    f: Activation,
    dy: Tensor,
    y: Tensor,
    dx: Tensor,
}

impl Operation for ActivateBackward {
    fn name(&self) -> &'static str {
        match self.f {
            Activation::Relu => "relu.backward",
            Activation::Tanh => "tanh.backward",
        }
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
        Ok(vec![Command::Launch(layer::activate_backward(cx.dtype(), cx.members(), self.f, (dy, &y, dx))?)])
    }
}
