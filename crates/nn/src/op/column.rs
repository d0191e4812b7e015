use super::Operation;
use crate::{Lowering, MemoryPurpose, Plan, PlanError, Tensor};
use foxhunt_device::Command;
use foxhunt_kernels::{Element, env::replay_advance, loss::Outcome, replay};

/// Uniform samples from a replay of stored states that all members share: what `bench step` trains on.
pub struct ColumnReplay {
    tensors: ColumnTensors,
    hyper: Tensor,
}

/// Tensors of a [`ColumnReplay`].
#[derive(Clone, Copy, Debug)]
pub struct ColumnTensors {
    /// `[rows, S]`, filled by the host.
    pub state: Tensor,
    /// `[rows, D]` bytes, filled by the host.
    pub actions: Tensor,
    /// `[rows, 1]` of [`Outcome`], filled by the host.
    pub outcome: Tensor,
    /// Batches drawn so far, U64 `[1, 1]`.
    pub draws: Tensor,
    /// Sampled rows, `[1, B]`.
    pub index: Tensor,
    /// `[2B, S]`: s, then s'.
    pub x: Tensor,
    /// `[B, D]`.
    pub batch_actions: Tensor,
    /// `[B, 1]`.
    pub batch_outcome: Tensor,
}

impl ColumnReplay {
    /// A replay of `rows` states of `width` numbers with `branches` actions each, and a batch of `batch` from it, drawn by the seed in
    /// `hyper`, the hyperparameters of the net that it trains.
    pub fn push(
        plan: &mut Plan,
        (rows, width, branches): (usize, usize, usize),
        batch: usize,
        hyper: Tensor,
    ) -> ColumnTensors {
        let outcome = Element::Struct(size_of::<Outcome>() as u32);
        let real = plan.real();
        let tensors = ColumnTensors {
            state: plan.table("replay.state", real, rows, width),
            actions: plan.table("replay.actions", Element::U8, rows, branches),
            outcome: plan.table("replay.outcome", outcome, rows, 1),
            draws: plan.buffer("batch.draws", Element::U64, 1, 1),
            index: plan.buffer("batch.index", Element::U32, 1, batch),
            x: plan.real_buffer("batch.x", 2 * batch, width),
            batch_actions: plan.buffer("batch.actions", Element::U8, batch, branches),
            batch_outcome: plan.buffer("batch.outcome", outcome, batch, 1),
        };
        for stored in [tensors.state, tensors.actions, tensors.outcome] {
            plan.set_purpose(stored, MemoryPurpose::Replay);
        }
        plan.run(ColumnReplay { tensors, hyper });
        tensors
    }
}

impl Operation for ColumnReplay {
    fn name(&self) -> &'static str {
        "column_replay"
    }

    fn reads(&self) -> Vec<Tensor> {
        let t = &self.tensors;
        vec![t.state, t.actions, t.outcome, t.draws, self.hyper]
    }

    fn writes(&self) -> Vec<Tensor> {
        let t = &self.tensors;
        vec![t.index, t.x, t.batch_actions, t.batch_outcome, t.draws]
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (dtype, members, t) = (cx.dtype(), cx.members(), &self.tensors);
        let gather = replay::ColumnGather {
            state: cx.view(t.state),
            actions: cx.view(t.actions),
            outcome: cx.view(t.outcome),
            draws: cx.view(t.draws),
            hyper: cx.view(self.hyper),
            index: cx.view(t.index),
            x: cx.view(t.x),
            batch_actions: cx.view(t.batch_actions),
            batch_outcome: cx.view(t.batch_outcome),
        };
        let counted = replay_advance(dtype, members, cx.view(t.draws))?;
        Ok(vec![Command::Launch(replay::column_gather(dtype, members, &gather)?), Command::Launch(counted)])
    }
}
