use super::{Operation, shape_error};
use crate::{Gradients, Lowering, Plan, PlanError, Tensor};
use foxhunt_device::Command;
use foxhunt_kernels::layer;

/// Summands of one operation.
const MOST: usize = 8;

/// `y = x0 + x1 + …` in F32, rounded once: a residual add, or the gradient of a tensor with several consumers.
pub struct Sum {
    x: Vec<Tensor>,
    y: Tensor,
}

impl Sum {
    /// Adds up one (a copy) to eight tensors of one shape.
    ///
    /// # Errors
    /// Shapes that differ, or too many.
    pub fn push(plan: &mut Plan, name: &str, x: &[Tensor]) -> Result<Tensor, PlanError> {
        if !(1..=MOST).contains(&x.len()) {
            return shape_error("sum", format!("{} summands, not 1 to {MOST}", x.len()));
        }
        let first = plan.info(x[0]).clone();
        for t in x {
            let info = plan.info(*t);
            if (info.rows, info.cols, info.ld) != (first.rows, first.cols, first.ld) {
                return shape_error(
                    "sum",
                    format!(
                        "{} is {}x{}, {} is {}x{}",
                        first.name, first.rows, first.cols, info.name, info.rows, info.cols
                    ),
                );
            }
        }
        let y = plan.result(name, first.rows, first.cols, x);
        plan.set_ld(y, first.ld);
        // Of gradients, mostly: the sum is for what its summands are for.
        plan.set_purpose(y, first.purpose);
        plan.run(Sum { x: x.to_vec(), y });
        Ok(y)
    }
}

impl Operation for Sum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn reads(&self) -> Vec<Tensor> {
        self.x.clone()
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.y]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let x: Vec<_> = self.x.iter().map(|t| cx.view(*t)).collect();
        Ok(vec![Command::Launch(layer::sum(cx.dtype(), cx.members(), &x, cx.view(self.y))?)])
    }

    fn backward(&self, plan: &mut Plan, gradients: &mut Gradients) -> Result<(), PlanError> {
        if let Some(dy) = gradients.of(plan, self.y)? {
            for x in &self.x {
                if plan.info(*x).differentiable {
                    gradients.add(*x, dy);
                }
            }
        }
        Ok(())
    }
}
