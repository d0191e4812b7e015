use super::Operation;
use crate::{Lowering, PlanError, Tensor};
use foxhunt_device::Command;

/// Commands that the plan did not make: a step of the environments, a gather of replay.
pub(crate) struct Foreign {
    pub(crate) name: &'static str,
    pub(crate) reads: Vec<Tensor>,
    pub(crate) writes: Vec<Tensor>,
    pub(crate) commands: Vec<Command>,
}

impl Operation for Foreign {
    fn name(&self) -> &'static str {
        self.name
    }

    fn reads(&self) -> Vec<Tensor> {
        self.reads.clone()
    }

    fn writes(&self) -> Vec<Tensor> {
        self.writes.clone()
    }

    fn lower(&self, _cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        Ok(self.commands.clone())
    }
}
