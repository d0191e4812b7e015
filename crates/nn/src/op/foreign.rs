use super::Operation;
use crate::{Lowering, PlanError, Tensor};
use foxhunt_device::Command;

/// Makes the commands of a foreign operation, once the plan's buffers have their places.
pub(crate) type Make = Box<dyn Fn(&Lowering) -> Result<Vec<Command>, PlanError>>;

/// Commands that the plan does not know by name: a step of the environments, a gather of replay.
pub(crate) struct Foreign {
    pub(crate) name: &'static str,
    pub(crate) reads: Vec<Tensor>,
    pub(crate) writes: Vec<Tensor>,
    pub(crate) make: Make,
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

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        (self.make)(cx)
    }
}
