use super::{Foreign, dqn::online_and_mean};
use crate::{Lowering, Net, Plan, PlanError, Tensor};
use foxhunt_device::Command;
use foxhunt_kernels::{
    View,
    fused::{DqnNet, DqnShape},
};

/// Adds commands that the plan does not know by name and that run a branching network, for a Hopper GPU in BF16: `make` has the
/// online net, and minus the mean of its head's units, made before; `reads` and `writes` are all else that they touch.
pub(crate) fn push_fused_foreign(
    plan: &mut Plan,
    name: &'static str,
    (shape, net): (DqnShape, &Net),
    (reads, writes): (&[Tensor], &[Tensor]),
    make: impl Fn(&Lowering, DqnNet<'_>, &View) -> Result<Vec<Command>, PlanError> + 'static,
) {
    let mean = super::dqn::mean_buffer(plan, name, &shape);
    let reads = [&[net.weight, net.target], reads].concat();
    let writes = [&[mean], writes].concat();
    let net = net.clone();
    let make = move |cx: &Lowering| {
        let (online, before) = online_and_mean(cx, &shape, &net, mean)?;
        let mut commands = vec![before];
        commands.extend(make(cx, online, cx.view(mean))?);
        Ok(commands)
    };
    plan.run(Foreign { name, reads, writes, make: Box::new(make) });
}
