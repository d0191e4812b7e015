use super::{Operation, column_parts, gradient_of, shape_error};
use crate::{Gradients, Lowering, MemoryPurpose, Plan, PlanError, Tensor};
use foxhunt_device::Command;
use foxhunt_kernels::layer;

/// Layer normalisation over columns, with gain and bias.
pub struct LayerNorm {
    x: Tensor,
    gain: Tensor,
    bias: Tensor,
    y: Tensor,
    eps: f32,
}

impl LayerNorm {
    /// Normalises the rows of `x`; `gain` and `bias` are `[1, cols]`.
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub fn push(
        plan: &mut Plan,
        name: &str,
        x: Tensor,
        (gain, bias): (Tensor, Tensor),
        eps: f32,
    ) -> Result<Tensor, PlanError> {
        let (rows, cols) = (plan.info(x).rows, plan.info(x).cols);
        for p in [gain, bias] {
            if plan.info(p).cols != cols {
                return shape_error(
                    "layer_norm",
                    format!("{name}: {cols} columns, {} has {}", plan.info(p).name, plan.info(p).cols),
                );
            }
        }
        let y = plan.result(name, rows, cols, &[x, gain, bias]);
        plan.run(LayerNorm { x, gain, bias, y, eps });
        Ok(y)
    }
}

impl Operation for LayerNorm {
    fn name(&self) -> &'static str {
        "layer_norm"
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.x, self.gain, self.bias]
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.y]
    }

    fn attributes(&self) -> String {
        format!("eps {:e}", self.eps)
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let x = layer::LayerNorm { x: cx.view(self.x), gain: cx.view(self.gain), eps: self.eps };
        let io = (cx.view(self.bias), cx.view(self.y));
        Ok(vec![Command::Launch(layer::layer_norm_forward(cx.dtype(), cx.members(), &x, io)?)])
    }

    fn backward(&self, plan: &mut Plan, gradients: &mut Gradients) -> Result<(), PlanError> {
        let Some(dy) = gradients.of(plan, self.y)? else { return Ok(()) };
        let (rows, cols) = (plan.info(dy).rows, plan.info(dy).cols);
        let dx = gradient_of(plan, self.x, rows);
        let [dgain, dbias] = [self.gain, self.bias].map(|p| gradient_of(plan, p, 1));
        // A team keeps its run of rows' sums on chip: runs short enough that all processors have one.
        let parts = column_parts(rows).max(rows.min(64));
        let [part_gain, part_bias] = [dgain, dbias].map(|p| {
            let name = format!("{}.parts", plan.info(p).name);
            let part = plan.real_buffer(&name, parts, cols);
            plan.with_purpose(part, MemoryPurpose::Workspace)
        });
        plan.run(LayerNormBackward {
            x: self.x,
            gain: self.gain,
            eps: self.eps,
            dy,
            dx,
            sums: [(part_gain, dgain), (part_bias, dbias)],
        });
        gradients.add(self.x, dx);
        gradients.add(self.gain, dgain);
        gradients.add(self.bias, dbias);
        Ok(())
    }
}

struct LayerNormBackward {
    x: Tensor,
    gain: Tensor,
    eps: f32,
    dy: Tensor,
    dx: Tensor,
    /// Partial sums and gradient, of gain and of bias.
    sums: [(Tensor, Tensor); 2],
}

impl Operation for LayerNormBackward {
    fn name(&self) -> &'static str {
        "layer_norm.backward"
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.x, self.gain, self.dy]
    }

    fn writes(&self) -> Vec<Tensor> {
        let [(a, b), (c, d)] = self.sums;
        vec![self.dx, a, b, c, d]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let x = layer::LayerNorm { x: cx.view(self.x), gain: cx.view(self.gain), eps: self.eps };
        let [(part_gain, dgain), (part_bias, dbias)] = self.sums.map(|(p, d)| (cx.view(p), cx.view(d)));
        let io = (cx.view(self.dy), cx.view(self.dx));
        let (dtype, members) = (cx.dtype(), cx.members());
        Ok(vec![
            Command::Launch(layer::layer_norm_backward(dtype, members, &x, io, (part_gain, part_bias))?),
            Command::Launch(layer::column_sum(dtype, members, part_gain, dgain)?),
            Command::Launch(layer::column_sum(dtype, members, part_bias, dbias)?),
        ])
    }
}
