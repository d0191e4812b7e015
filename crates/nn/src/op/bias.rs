use super::{Operation, column_parts, gradient_of, shape_error};
use crate::{Gradients, Lowering, MemoryPurpose, Plan, PlanError, Tensor};
use foxhunt_device::Command;
use foxhunt_kernels::{View, layer};

/// `y = x + b`, with or without ReLU, in the memory of `x`: nothing else may need `x` afterwards.
pub struct Bias {
    x: Tensor,
    b: Tensor,
    y: Tensor,
    relu: bool,
}

/// A bias as one row, whatever rows its parameter has: `[units, atoms]` with rows `unit_ld` apart is a row of
/// `units * unit_ld`, its padding zero.
fn as_row(b: &View, cols: usize) -> View {
    View { rows: 1, cols, ld: b.rows * b.ld, ..b.clone() }
}

impl Bias {
    /// Adds `b` to every row of `x`, in place.
    ///
    /// # Errors
    /// A bias of another width.
    pub fn push(plan: &mut Plan, name: &str, x: Tensor, b: Tensor, relu: bool) -> Result<Tensor, PlanError> {
        let (x_info, b_info) = (plan.info(x).clone(), plan.info(b).clone());
        let width = if b_info.rows == 1 { b_info.cols } else { b_info.rows * b_info.ld };
        if width != x_info.cols {
            return shape_error(
                "bias",
                format!("{} has {} columns, {} has {width}", x_info.name, x_info.cols, b_info.name),
            );
        }
        let differentiable = x_info.differentiable || b_info.differentiable;
        let y = plan.inside(crate::TensorInfo { name: name.to_owned(), differentiable, ..x_info }, x, 0);
        plan.run(Bias { x, b, y, relu });
        Ok(y)
    }
}

impl Operation for Bias {
    fn name(&self) -> &'static str {
        if self.relu { "bias_relu" } else { "bias" }
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.x, self.b]
    }

    fn consumes(&self) -> Option<Tensor> {
        Some(self.x)
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.y]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (x, y) = (cx.view(self.x), cx.view(self.y));
        let b = as_row(cx.view(self.b), x.cols);
        Ok(vec![Command::Launch(layer::bias_forward(cx.dtype(), cx.members(), (x, &b, y), self.relu)?)])
    }

    fn backward(&self, plan: &mut Plan, gradients: &mut Gradients) -> Result<(), PlanError> {
        let Some(dy) = gradients.of(plan, self.y)? else { return Ok(()) };
        let rows = plan.info(dy).rows;
        let dz = if self.relu { gradient_of(plan, self.y, rows) } else { dy };
        let db = push_bias_gradient(plan, self.b, dy, self.relu.then_some((self.y, dz)));
        gradients.add(self.b, db);
        gradients.add(self.x, dz);
        Ok(())
    }
}

/// The gradient of bias `b`: column sums of `dy`, masked where `relu` is (y, dz). Returns the gradient.
pub(super) fn push_bias_gradient(
    plan: &mut Plan,
    b: Tensor,
    dy: Tensor,
    relu: Option<(Tensor, Tensor)>,
) -> Tensor {
    let rows = plan.info(b).rows;
    let db = gradient_of(plan, b, rows);
    let (batch, width) = (plan.info(dy).rows, plan.info(dy).cols);
    let parts = column_parts(batch);
    let part = (parts > 1).then(|| {
        let name = format!("{}.parts", plan.info(db).name);
        let part = plan.real_buffer(&name, parts, width);
        plan.with_purpose(part, MemoryPurpose::Workspace)
    });
    plan.run(BiasBackward { dy, relu, db, part });
    db
}

struct BiasBackward {
    dy: Tensor,
    relu: Option<(Tensor, Tensor)>,
    db: Tensor,
    part: Option<Tensor>,
}

impl Operation for BiasBackward {
    fn name(&self) -> &'static str {
        if self.relu.is_some() { "bias_relu.backward" } else { "bias.backward" }
    }

    fn reads(&self) -> Vec<Tensor> {
        let mut reads = vec![self.dy];
        reads.extend(self.relu.map(|(y, _)| y));
        reads
    }

    fn writes(&self) -> Vec<Tensor> {
        let mut writes = vec![self.db];
        writes.extend(self.relu.map(|(_, dz)| dz));
        writes.extend(self.part);
        writes
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let dy = cx.view(self.dy);
        let db = as_row(cx.view(self.db), dy.cols);
        let relu = self.relu.map(|(y, dz)| (cx.view(y).slice_rows(0, dy.rows), cx.view(dz)));
        let relu = relu.as_ref().map(|(y, dz)| (y, *dz));
        let Some(part) = self.part else {
            return Ok(vec![Command::Launch(layer::bias_backward(cx.dtype(), cx.members(), dy, relu, &db)?)]);
        };
        let part = cx.view(part);
        Ok(vec![
            Command::Launch(layer::bias_backward(cx.dtype(), cx.members(), dy, relu, part)?),
            Command::Launch(layer::column_sum(cx.dtype(), cx.members(), part, &db)?),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, op::Sum};
    use foxhunt_core::DType;
    use foxhunt_device::Device;

    /// In place, a bias leaves nothing of its input for others.
    #[test]
    fn an_input_with_another_reader_is_refused() {
        let mut plan = Plan::new(DType::F32, 1);
        let [x, other] = ["x", "other"].map(|n| plan.real_buffer(n, 3, 8));
        let b = plan.real_buffer("b", 1, 8);
        Bias::push(&mut plan, "y", x, b, false).unwrap();
        Sum::push(&mut plan, "z", &[x, other]).unwrap();
        let error = plan.compile(&Device::cpu(), Options::default()).err().unwrap().to_string();
        assert!(error.contains("x is overwritten by bias and read by sum"), "{error}");
    }
}
