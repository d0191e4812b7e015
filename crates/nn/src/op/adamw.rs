use super::{Operation, gradient_norm::GradientNorm};
use crate::{Lowering, MemoryPurpose, Net, Plan, PlanError, Tensor};
use foxhunt_core::Rounding;
use foxhunt_device::Command;
use foxhunt_kernels::{
    Element,
    optim::{self, Hyper, OptimiserState, norm_partials},
};

/// Global-norm clip, AdamW and EMA target of one net.
pub struct Optimise {
    net: Net,
    counters: Tensor,
    hyper: Tensor,
    norm: Tensor,
}

impl Optimise {
    /// One [`OptimiserState`] and one [`Hyper`] per member: the buffers that [`Optimise::push`] takes, and that
    /// anything keyed by the step reads.
    pub fn state(plan: &mut Plan, name: &str) -> (Tensor, Tensor) {
        let state = Element::Struct(size_of::<OptimiserState>() as u32);
        let hyper = Element::Struct(size_of::<Hyper>() as u32);
        (
            plan.buffer(&format!("{name}.counters"), state, 1, 1),
            plan.buffer(&format!("{name}.hyper"), hyper, 1, 1),
        )
    }

    /// Steps the weights of `net` by its gradient image, and its target towards them.
    pub fn push(plan: &mut Plan, net: &Net, state: (Tensor, Tensor)) {
        let name = format!("{}.norm", net.name);
        let norm = plan.buffer(&name, Element::U64, 1, norm_partials(net.tiles));
        plan.set_purpose(norm, MemoryPurpose::Workspace);
        plan.run(GradientNorm { gradient: net.gradient, partial: norm });
        Self::push_normed(plan, net, state, norm);
    }

    /// The same where the partial squared norms of the gradient are there already: U64 `[1, n]`, 2^-32.
    pub fn push_normed(plan: &mut Plan, net: &Net, (counters, hyper): (Tensor, Tensor), norm: Tensor) {
        plan.run(Optimise { net: net.clone(), counters, hyper, norm });
    }
}

impl Operation for Optimise {
    fn name(&self) -> &'static str {
        "adamw"
    }

    fn reads(&self) -> Vec<Tensor> {
        let n = &self.net;
        let mut reads = vec![n.weight, n.m, n.v, n.target];
        reads.extend(n.low.into_iter().flat_map(|low| [low.weight, low.target]));
        reads.extend([n.gradient, self.counters, self.hyper, self.norm, n.ids]);
        reads
    }

    fn writes(&self) -> Vec<Tensor> {
        let n = &self.net;
        let mut writes = vec![n.weight, n.m, n.v, n.target];
        writes.extend(n.low.into_iter().flat_map(|low| [low.weight, low.target]));
        writes.push(self.counters);
        writes
    }

    fn attributes(&self) -> String {
        match self.net.rounding {
            // The rule, which goes without saying.
            Rounding::Stochastic => String::new(),
            Rounding::Nearest => "rounds to nearest".into(),
            one => format!("rounds {one}"),
        }
    }

    fn lower(&self, cx: &Lowering) -> Result<Vec<Command>, PlanError> {
        let (dtype, members) = (cx.dtype(), cx.members());
        let n = &self.net;
        let (counters, hyper, norm) = (cx.view(self.counters), cx.view(self.hyper), cx.view(self.norm));
        let step = optim::AdamW {
            state: [n.weight, n.m, n.v, n.target].map(|t| cx.view(t)),
            low: n.low.map(|low| [cx.view(low.weight), cx.view(low.target)]),
            rounding: n.rounding,
            gradient: cx.view(n.gradient),
            counters,
            hyper,
            norm,
            ids: cx.view(n.ids),
        };
        Ok(vec![Command::Launch(optim::adamw(dtype, members, &step)?)])
    }
}
