use super::{
    Bias, Block, Linear, Operation, bias::push_bias_gradient, linear::push_linear_backward, shape_error,
};
use crate::{Gradients, Lowering, NetParam, Plan, PlanError, Tensor};
use foxhunt_core::DType;
use foxhunt_device::Command;
use foxhunt_kernels::{
    Element,
    loss::{self, HeadInput, HeadShape, LossTotal},
};

/// The parameters of a value head, and its shape.
#[derive(Clone, Debug)]
pub struct HeadNets {
    /// Branches, atoms, support.
    pub shape: HeadShape,
    /// `[units * unit_ld, H]`.
    pub w: NetParam,
    /// `[units, atoms]`, rows `unit_ld` apart.
    pub bias: NetParam,
}

impl HeadNets {
    fn hidden(&self, plan: &Plan) -> usize {
        plan.info(self.w.weight).cols
    }

    /// One block per stream: V's unit reads the first H activations, branch d's units the (1 + d)-th H.
    fn blocks(&self, plan: &Plan) -> Vec<Block> {
        let hidden = self.hidden(plan);
        (0..=self.shape.actions.len())
            .map(|stream| {
                let (first, count) = self.shape.stream_units(stream);
                let unit_ld = self.shape.unit_ld();
                Block { x_first: stream * hidden, y_first: first * unit_ld, width: count * unit_ld }
            })
            .collect()
    }

    /// Where the head gets its logits: in BF16 it multiplies on chip, so that they are never rounded; in F32 the plain
    /// span of product, bias and loss rounds nothing and uses the library's products.
    fn input(
        &self,
        plan: &mut Plan,
        name: &str,
        x: Tensor,
        (w, bias): (Tensor, Tensor),
    ) -> Result<Input, PlanError> {
        if plan.dtype() == DType::Bf16 {
            return Ok(Input::Activations { x, w, bias });
        }
        let blocks = self.blocks(plan);
        let z = Linear::push_blocks(plan, &format!("{name}.product"), x, w, blocks, 1.0)?;
        Ok(Input::Logits(Bias::push(plan, name, z, bias, false)?))
    }
}

#[derive(Clone, Copy)]
enum Input {
    Activations { x: Tensor, w: Tensor, bias: Tensor },
    Logits(Tensor),
}

impl Input {
    fn reads(self) -> Vec<Tensor> {
        match self {
            Input::Activations { x, w, bias } => vec![x, w, bias],
            Input::Logits(x) => vec![x],
        }
    }

    fn lower(self, cx: &Lowering) -> HeadInput<'_> {
        match self {
            Input::Activations { x, w, bias } => {
                HeadInput::Activations { x: cx.view(x), w: cx.view(w), bias: cx.view(bias) }
            }
            Input::Logits(x) => HeadInput::Logits(cx.view(x)),
        }
    }
}

/// What a batch holds besides its states.
#[derive(Clone, Copy, Debug)]
pub struct HeadSamples {
    /// Actions taken, `[B, D]` bytes.
    pub actions: Tensor,
    /// n-step return and discount, `[B, 1]`.
    pub outcome: Tensor,
}

/// Double-DQN C51 loss of a branching dueling head: a source of gradients.
pub struct ValueHeadLoss {
    head: HeadNets,
    online: Input,
    target: Input,
    samples: HeadSamples,
    d_logits: Tensor,
    row_loss: Tensor,
    total: Tensor,
    mixture: bool,
    portable: bool,
}

impl ValueHeadLoss {
    /// Adds the loss of stream activations `x_online [2B, streams * H]` (s, then s') and `x_target [B, …]` (s').
    /// `mixture` gives all branches the mean of their targets (rl.md 2). Returns the loss of each row `[1, B]` and the
    /// [`LossTotal`] that it adds to.
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub fn push(
        plan: &mut Plan,
        head: &HeadNets,
        (x_online, x_target): (Tensor, Tensor),
        samples: HeadSamples,
        mixture: bool,
    ) -> Result<(Tensor, Tensor), PlanError> {
        Self::push_with(plan, head, (x_online, x_target), samples, mixture, false)
    }

    /// As [`ValueHeadLoss::push`]; `portable` keeps the tensor cores out, for the test that holds the two together.
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub fn push_with(
        plan: &mut Plan,
        head: &HeadNets,
        (x_online, x_target): (Tensor, Tensor),
        samples: HeadSamples,
        mixture: bool,
        portable: bool,
    ) -> Result<(Tensor, Tensor), PlanError> {
        let batch = plan.info(x_target).rows;
        if plan.info(x_online).rows != 2 * batch {
            return shape_error(
                "value_head",
                format!("{} rows online, {batch} of the target", plan.info(x_online).rows),
            );
        }
        let online = head.input(plan, "logits", x_online, (head.w.weight, head.bias.weight))?;
        let target = head.input(plan, "logits'", x_target, (head.w.target, head.bias.target))?;
        let d_logits = plan.real_buffer("d.logits", batch, head.shape.logit_columns());
        let row_loss = plan.real_buffer("loss.rows", 1, batch);
        let total = plan.buffer("loss.total", Element::Struct(size_of::<LossTotal>() as u32), 1, 1);
        let head = head.clone();
        plan.run(ValueHeadLoss {
            head,
            online,
            target,
            samples,
            d_logits,
            row_loss,
            total,
            mixture,
            portable,
        });
        Ok((row_loss, total))
    }
}

impl Operation for ValueHeadLoss {
    fn name(&self) -> &'static str {
        match self.online {
            Input::Activations { .. } => "value_head.loss",
            Input::Logits(_) => "c51.loss",
        }
    }

    fn reads(&self) -> Vec<Tensor> {
        let mut reads = self.online.reads();
        reads.extend(self.target.reads());
        reads.extend([self.samples.actions, self.samples.outcome, self.total]);
        reads
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.d_logits, self.row_loss, self.total]
    }

    fn attributes(&self) -> String {
        let s = &self.head.shape;
        let targets = if self.mixture { "mixed targets" } else { "targets per branch" };
        format!("branches {:?}, {} atoms in [{}, {}], {targets}", s.actions, s.atoms, s.v_min, s.v_max)
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let x = loss::HeadLoss {
            online: self.online.lower(cx),
            target: self.target.lower(cx),
            actions: cx.view(self.samples.actions),
            outcome: cx.view(self.samples.outcome),
            d_logits: cx.view(self.d_logits),
            row_loss: cx.view(self.row_loss),
            total: cx.view(self.total),
            mixture: self.mixture,
            portable: self.portable,
        };
        Ok(vec![Command::Launch(loss::head_loss(cx.dtype(), cx.members(), &self.head.shape, &x)?)])
    }

    fn backward(&self, plan: &mut Plan, gradients: &mut Gradients) -> Result<(), PlanError> {
        match self.online {
            Input::Logits(logits) => gradients.add(logits, self.d_logits),
            Input::Activations { x, w, bias } => {
                let db = push_bias_gradient(plan, bias, self.d_logits, None);
                gradients.add(bias, db);
                let blocks = self.head.blocks(plan);
                push_linear_backward(plan, gradients, (x, w, self.d_logits), &blocks, 1.0);
            }
        }
        Ok(())
    }
}

/// Acting: Q of every action and the greedy action of each branch.
pub struct ValueHeadAct {
    shape: HeadShape,
    input: Input,
    q: Tensor,
    greedy: Tensor,
    gaps: bool,
}

impl ValueHeadAct {
    /// From stream activations `x [rows, streams * H]` of the online net: Q `[rows, sum of actions]` and greedy
    /// actions `[rows, D]`.
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub fn push(
        plan: &mut Plan,
        head: &HeadNets,
        name: &str,
        x: Tensor,
    ) -> Result<(Tensor, Tensor), PlanError> {
        Self::push_with(plan, head, name, x, false)
    }

    /// As [`ValueHeadAct::push`], with Q less the largest of its branch if `gaps`: in BF16 its small differences are as exact
    /// as numbers of their size are, which those of Q itself are not.
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub fn push_with(
        plan: &mut Plan,
        head: &HeadNets,
        name: &str,
        x: Tensor,
        gaps: bool,
    ) -> Result<(Tensor, Tensor), PlanError> {
        let rows = plan.info(x).rows;
        let input = head.input(plan, &format!("{name}.logits"), x, (head.w.weight, head.bias.weight))?;
        let q = plan.real_buffer(&format!("{name}.q"), rows, head.shape.units() - 1);
        let greedy = plan.buffer(&format!("{name}.greedy"), Element::U8, rows, head.shape.actions.len());
        plan.run(ValueHeadAct { shape: head.shape.clone(), input, q, greedy, gaps });
        Ok((q, greedy))
    }
}

impl Operation for ValueHeadAct {
    fn name(&self) -> &'static str {
        if self.gaps { "value_head.gaps" } else { "value_head.act" }
    }

    fn reads(&self) -> Vec<Tensor> {
        self.input.reads()
    }

    fn writes(&self) -> Vec<Tensor> {
        vec![self.q, self.greedy]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let out = (cx.view(self.q), cx.view(self.greedy));
        let input = self.input.lower(cx);
        Ok(vec![Command::Launch(loss::head_act(
            cx.dtype(),
            cx.members(),
            &self.shape,
            input,
            out,
            self.gaps,
        )?)])
    }
}
