use super::{Operation, dqn::FusedStep};
use crate::{Lowering, MemoryPurpose, Net, Plan, PlanError, Tensor};
use foxhunt_device::Command;
use foxhunt_kernels::{
    View,
    fused::{self, DqnNet, DqnShape, mean_rows},
};

/// Makes the commands, of the online net and of minus the mean of its head's units.
pub(crate) type MakeWith = Box<dyn Fn(&Lowering, DqnNet<'_>, &View) -> Result<Vec<Command>, PlanError>>;

/// Commands that the plan does not know by name and that run a branching network, for a Hopper GPU in BF16: decisions of
/// environments.
pub(crate) struct FusedForeign {
    name: &'static str,
    shape: DqnShape,
    net: Net,
    mean: Tensor,
    reads: Vec<Tensor>,
    writes: Vec<Tensor>,
    make: MakeWith,
}

impl FusedForeign {
    pub(crate) fn push(
        plan: &mut Plan,
        name: &'static str,
        (shape, net): (DqnShape, &Net),
        (reads, writes): (&[Tensor], &[Tensor]),
        make: MakeWith,
    ) {
        let mean = plan.real_buffer(&format!("{name}.mean"), mean_rows(&shape.head), shape.stream);
        plan.set_purpose(mean, MemoryPurpose::Workspace);
        let reads = [&[net.weight, net.target], reads].concat();
        let writes = [&[mean], writes].concat();
        plan.run(FusedForeign { name, shape, net: net.clone(), mean, reads, writes, make });
    }
}

impl Operation for FusedForeign {
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
        let online = FusedStep::net(cx, self.net.eight(|p| p.weight)?);
        let target = FusedStep::net(cx, self.net.eight(|p| p.target)?);
        let heads = [online.weights[3], target.weights[3]];
        let mean = cx.view(self.mean);
        let mut commands =
            vec![Command::Launch(fused::dqn_mean(cx.dtype(), cx.members(), &self.shape.head, heads, mean)?)];
        commands.extend((self.make)(cx, online, mean)?);
        Ok(commands)
    }
}
