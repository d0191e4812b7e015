use super::{HeadSamples, Operation};
use crate::{Lowering, MemoryPurpose, Net, Plan, PlanError, Tensor};
use foxhunt_core::DType;
use foxhunt_device::Command;
use foxhunt_kernels::{
    Element, View,
    fused::{
        self, DqnAct, DqnKernels, DqnNet, DqnRows, DqnShape, DqnWeights, GRADIENT_COLUMNS, Kept, mean_rows,
    },
    loss::LossTotal,
};

/// Forward passes, loss and all gradients of a branching network's step in three kernels: what its span of products, biases,
/// value head and their backward passes does, for the GPUs that [`DqnKernels`] names. Agrees with the span within the tolerance of matrix
/// products; in the same units, and in the same gradient image.
pub struct FusedStep {
    kernels: DqnKernels,
    shape: DqnShape,
    net: Net,
    x: Tensor,
    samples: HeadSamples,
    mean: Tensor,
    kept: [Tensor; 2],
    activations: [Tensor; 3],
    gradients: [Tensor; 3],
    head_gradient: Tensor,
    weights: [Tensor; 8],
    norm: Tensor,
    row_loss: Tensor,
    total: Tensor,
    mixture: bool,
    trunk_scale: f32,
}

/// What a [`FusedStep`] leaves.
#[derive(Clone, Copy, Debug)]
pub struct FusedTensors {
    /// Loss of each row, `[1, B]`.
    pub row_loss: Tensor,
    /// [`LossTotal`] per member.
    pub total: Tensor,
    /// Partial squared norms of the gradient.
    pub norm: Tensor,
}

impl FusedStep {
    /// Adds the step of `net` on `x [2B, S]` (s, then s'). The net's parameters are those of a `BranchingQ`, in its order.
    ///
    /// # Errors
    /// Sizes that the kernels are not written for: see [`DqnShape::fits`].
    pub fn push(
        plan: &mut Plan,
        kernels: DqnKernels,
        (shape, net): (DqnShape, &Net),
        x: Tensor,
        samples: HeadSamples,
        (mixture, trunk_scale): (bool, f32),
    ) -> Result<FusedTensors, PlanError> {
        if !shape.fits() || plan.info(x).cols != shape.inputs {
            return super::shape_error("dqn.fused", format!("the fused step is not written for {shape:?}"));
        }
        let batch = plan.info(x).rows / 2;
        let widths = shape.layers();
        let mut layers = |prefix: &str| {
            [0, 1, 2].map(|i| plan.real_buffer(&format!("{prefix}{}", i + 1), batch, widths[i]))
        };
        let (activations, gradients) = (layers("online.h"), layers("d.online.z"));
        let kept = [
            plan.real_buffer("online.x", batch, shape.inputs),
            plan.buffer("online.actions", Element::U8, batch, shape.head.actions.len()),
        ];
        let head_gradient = plan.real_buffer("d.head", batch, shape.streams() * GRADIENT_COLUMNS);
        let mean = plan.real_buffer("head.mean", mean_rows(&shape.head), shape.stream);
        plan.set_purpose(mean, MemoryPurpose::Workspace);
        let norm =
            plan.buffer(&format!("{}.norm", net.name), Element::U64, 1, kernels.partials(&shape, batch));
        let row_loss = plan.real_buffer("loss.rows", 1, batch);
        let total = plan.buffer("loss.total", Element::of::<LossTotal>(), 1, 1);
        let weights = net.gradients(plan)?;
        plan.run(FusedStep {
            kernels,
            shape,
            net: net.clone(),
            x,
            samples,
            mean,
            kept,
            activations,
            gradients,
            head_gradient,
            weights,
            norm,
            row_loss,
            total,
            mixture,
            trunk_scale,
        });
        Ok(FusedTensors { row_loss, total, norm })
    }

    fn net<'a>(cx: &'a Lowering, t: [Tensor; 8]) -> DqnNet<'a> {
        let [w1, b1, w2, b2, w3, b3, w4, b4] = t.map(|t| cx.view(t));
        DqnNet { weights: [w1, w2, w3, w4], biases: [b1, b2, b3, b4] }
    }
}

/// Greedy acting of a branching network in one kernel: what its span of products, biases and value head does, for a Hopper GPU
/// in BF16.
pub struct FusedAct {
    shape: DqnShape,
    net: Net,
    x: Tensor,
    mean: Tensor,
    greedy: Tensor,
    most_blocks: usize,
}

impl FusedAct {
    /// Greedy actions `[rows, D]` of `x [rows, S]`, by `most_blocks` blocks of a member, usually [`fused::ACTING_BLOCKS`].
    ///
    /// # Errors
    /// Sizes that the kernel is not written for: see [`DqnShape::fits`].
    pub fn push(
        plan: &mut Plan,
        name: &str,
        (shape, net): (DqnShape, &Net),
        x: Tensor,
        most_blocks: usize,
    ) -> Result<Tensor, PlanError> {
        let info = plan.info(x);
        if !shape.fits() || info.cols != shape.inputs || plan.dtype() != DType::Bf16 {
            return super::shape_error("dqn.act", format!("fused acting is not written for {shape:?}"));
        }
        let rows = info.rows;
        let mean = mean_buffer(plan, name, &shape);
        let greedy = plan.buffer(&format!("{name}.greedy"), Element::U8, rows, shape.head.actions.len());
        plan.run(FusedAct { shape, net: net.clone(), x, mean, greedy, most_blocks });
        Ok(greedy)
    }
}

impl Operation for FusedAct {
    fn name(&self) -> &'static str {
        "dqn.act"
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.net.weight, self.net.target, self.x]
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.mean, self.greedy]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (online, before) = online_and_mean(cx, &self.shape, &self.net, self.mean)?;
        let act = DqnAct {
            online,
            mean: cx.view(self.mean),
            x: cx.view(self.x),
            greedy: cx.view(self.greedy),
            most_blocks: self.most_blocks,
        };
        Ok(vec![before, Command::Launch(fused::dqn_act(cx.members(), &self.shape, &act)?)])
    }
}

/// Room for minus the mean of the head's units, for whatever acts by the fused forward pass.
pub(super) fn mean_buffer(plan: &mut Plan, name: &str, shape: &DqnShape) -> Tensor {
    let mean = plan.real_buffer(&format!("{name}.mean"), mean_rows(&shape.head), shape.stream);
    plan.set_purpose(mean, MemoryPurpose::Workspace);
    mean
}

/// The online net, and the launch that makes that mean.
pub(super) fn online_and_mean<'a>(
    cx: &'a Lowering,
    shape: &DqnShape,
    net: &Net,
    mean: Tensor,
) -> Result<(DqnNet<'a>, Command), PlanError> {
    let online = FusedStep::net(cx, net.eight(|p| p.weight)?);
    let target = FusedStep::net(cx, net.eight(|p| p.target)?);
    let heads = [online.weights[3], target.weights[3]];
    let launch = fused::dqn_mean(cx.dtype(), cx.members(), &shape.head, heads, cx.view(mean))?;
    Ok((online, Command::Launch(launch)))
}

impl Net {
    fn eight(&self, of: impl Fn(&crate::NetParam) -> Tensor) -> Result<[Tensor; 8], PlanError> {
        let all: Vec<Tensor> = self.params.iter().map(of).collect();
        all.try_into()
            .map_err(|_| PlanError::Unknown { what: "net of eight parameters", name: self.name.clone() })
    }

    /// The gradient of each parameter, inside the gradient image.
    fn gradients(&self, plan: &mut Plan) -> Result<[Tensor; 8], PlanError> {
        let mut all = Vec::new();
        for p in &self.params {
            let mut info = plan.info(p.weight).clone();
            info.name = format!("d.{}", info.name);
            info.differentiable = false;
            all.push(plan.inside(info, self.gradient, p.offset));
        }
        all.try_into()
            .map_err(|_| PlanError::Unknown { what: "net of eight parameters", name: self.name.clone() })
    }
}

impl Operation for FusedStep {
    fn name(&self) -> &'static str {
        "dqn.fused"
    }

    fn reads(&self) -> Vec<Tensor> {
        vec![self.net.weight, self.net.target, self.x, self.samples.actions, self.samples.outcome, self.total]
    }

    fn writes(&self) -> Vec<Tensor> {
        let mut writes = vec![self.mean];
        writes.extend(self.kept.into_iter().chain(self.activations).chain(self.gradients));
        writes.extend([self.head_gradient, self.net.gradient, self.norm, self.row_loss, self.total]);
        writes
    }

    fn attributes(&self) -> String {
        let s = &self.shape.head;
        let targets = if self.mixture { "mixed targets" } else { "targets per branch" };
        let scale = self.trunk_scale;
        let trunk = if scale == 1.0 { String::new() } else { format!(", trunk gradient x {scale}") };
        format!("branches {:?}, {} atoms in [{}, {}], {targets}{trunk}", s.actions, s.atoms, s.v_min, s.v_max)
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let members = cx.members();
        let online = Self::net(cx, self.net.eight(|p| p.weight)?);
        let target = Self::net(cx, self.net.eight(|p| p.target)?);
        let all = |t: [Tensor; 3]| -> [&View; 3] { t.map(|t| cx.view(t)) };
        let (activations, gradients) = (all(self.activations), all(self.gradients));
        let [x, actions] = self.kept.map(|t| cx.view(t));
        let kept = Kept { x, actions };
        let mean = fused::dqn_mean(
            cx.dtype(),
            members,
            &self.shape.head,
            [online.weights[3], target.weights[3]],
            cx.view(self.mean),
        )?;
        let rows = DqnRows {
            online,
            target,
            mean: cx.view(self.mean),
            x: cx.view(self.x),
            actions: cx.view(self.samples.actions),
            outcome: cx.view(self.samples.outcome),
            kept,
            activations,
            gradients,
            head_gradient: cx.view(self.head_gradient),
            row_loss: cx.view(self.row_loss),
            total: cx.view(self.total),
            mixture: self.mixture,
            trunk_scale: self.trunk_scale,
        };
        let weights = DqnWeights {
            kept,
            activations,
            gradients,
            head_gradient: cx.view(self.head_gradient),
            net: Self::net(cx, self.weights),
            norm: cx.view(self.norm),
        };
        Ok(vec![
            Command::Launch(mean),
            Command::Launch(self.kernels.rows(cx.dtype(), members, &self.shape, &rows)?),
            Command::Launch(self.kernels.weights(cx.dtype(), members, &self.shape, &weights)?),
        ])
    }
}
