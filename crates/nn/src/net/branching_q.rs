//! The branching dueling Q-network with a C51 head (Tavakoli et al. 2018; Bellemare et al. 2017; rl.md 1 and 2).
//!
//! ```text
//! x [B, S] -> s1 -> relu -> s2 -> relu -> h [B, M]
//!          -> streams (V and each branch: M -> H) -> relu -> [B, (1 + D) H] -> value head -> Q, loss
//! ```
//! Differences from the paper: distributions instead of values, and a mixture of the branches' targets.

use crate::{
    Init, Lowering, Net, ParamPart, ParamSpec, Plan, PlanError, Tensor,
    op::{
        Bias, FusedAct, FusedStep, HeadNets, HeadSamples, Linear, Optimise, ValueHeadAct, ValueHeadLoss,
        push_fused_foreign,
    },
};
use foxhunt_device::Command;
use foxhunt_kernels::{
    View,
    fused::{DqnKernels, DqnNet, DqnShape},
    loss::HeadShape,
};

/// Sizes of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchingQConfig {
    /// Inputs S.
    pub inputs: usize,
    /// Widths of the two trunk layers; the second is M.
    pub trunk: [usize; 2],
    /// Width H of each stream, a multiple of 32.
    pub stream: usize,
    /// Branches, atoms, support.
    pub head: HeadShape,
    /// Factor of the gradient that the streams send into the trunk: 1 / (D + 1) in rl.md 1, 1 in the peers' bench.
    pub trunk_gradient_scale: f32,
    /// Whether all branches learn from the mixture of their targets.
    pub mixture: bool,
}

/// The network in a plan.
#[derive(Clone, Debug)]
pub struct BranchingQ {
    config: BranchingQConfig,
    /// Its parameters.
    pub net: Net,
}

/// `w_v1`, `w_a1`, `w_b11`, `w_b21`…: the checkpoint's names of stream `stream`'s layer `layer` (system.md).
fn stream_name(kind: char, stream: usize, layer: usize) -> String {
    match stream {
        0 => format!("{kind}_v{layer}"),
        1 => format!("{kind}_a{layer}"),
        d => format!("{kind}_b{}{layer}", d - 1),
    }
}

impl BranchingQ {
    /// Lays out the parameters.
    pub fn new(plan: &mut Plan, config: BranchingQConfig) -> Self {
        let [m1, m2] = config.trunk;
        let shape = &config.head;
        let streams = 1 + shape.actions.len();
        let uniform = |fan_in| Init::Uniform { fan_in };
        let stream_parts = |kind: char, layer: usize, rows: &dyn Fn(usize) -> usize| -> Vec<ParamPart> {
            (0..streams).map(|s| ParamPart { name: stream_name(kind, s, layer), rows: rows(s) }).collect()
        };
        let units = |s: usize| shape.stream_units(s).1;
        let specs = vec![
            ParamSpec::matrix("w_s1", m1, config.inputs, uniform(config.inputs)),
            ParamSpec::vector("b_s1", m1, uniform(config.inputs)),
            ParamSpec::matrix("w_s2", m2, m1, uniform(m1)),
            ParamSpec::vector("b_s2", m2, uniform(m1)),
            ParamSpec {
                parts: stream_parts('w', 1, &|_| config.stream),
                ..ParamSpec::matrix("w_streams", streams * config.stream, m2, uniform(m2))
            },
            // One row per stream, so that a stream's bias is a part; rows of `stream` numbers without padding.
            ParamSpec {
                parts: stream_parts('b', 1, &|_| 1),
                ld: Some(config.stream),
                decays: false,
                ..ParamSpec::matrix("b_streams", streams, config.stream, uniform(m2))
            },
            ParamSpec {
                parts: stream_parts('w', 2, &|s| units(s) * shape.atoms),
                group: shape.atoms,
                group_ld: shape.unit_ld(),
                ..ParamSpec::matrix("w_head", 0, config.stream, uniform(config.stream))
            },
            ParamSpec {
                parts: stream_parts('b', 2, &units),
                ld: Some(shape.unit_ld()),
                decays: false,
                ..ParamSpec::matrix("b_head", 0, shape.atoms, uniform(config.stream))
            },
        ];
        let net = plan.net("q", specs);
        BranchingQ { config, net }
    }

    /// Its sizes.
    pub fn config(&self) -> &BranchingQConfig {
        &self.config
    }

    fn head(&self) -> HeadNets {
        HeadNets {
            shape: self.config.head.clone(),
            w: self.net.params[6].clone(),
            bias: self.net.params[7].clone(),
        }
    }

    /// Stream activations `[rows, (1 + D) H]` of `x [rows, S]`, by the online net or by its target.
    ///
    /// # Errors
    /// An input of another width.
    pub fn streams(&self, plan: &mut Plan, name: &str, x: Tensor, target: bool) -> Result<Tensor, PlanError> {
        let weights: Vec<Tensor> =
            self.net.params.iter().map(|p| if target { p.target } else { p.weight }).collect();
        let [w_s1, b_s1, w_s2, b_s2, w_streams, b_streams, ..] = weights[..] else {
            return Err(PlanError::Unknown { what: "parameter", name: "b_streams".into() });
        };
        let z = Linear::push(plan, &format!("{name}.z1"), x, w_s1)?;
        let h = Bias::push(plan, &format!("{name}.h1"), z, b_s1, true)?;
        let z = Linear::push(plan, &format!("{name}.z2"), h, w_s2)?;
        let h = Bias::push(plan, &format!("{name}.h2"), z, b_s2, true)?;
        let scale = self.config.trunk_gradient_scale;
        let z = Linear::push_scaled(plan, &format!("{name}.z3"), h, w_streams, scale)?;
        Bias::push(plan, &format!("{name}.h3"), z, b_streams, true)
    }

    /// Greedy acting on `x [rows, S]`: Q `[rows, sum of actions]` and greedy actions `[rows, D]`.
    ///
    /// # Errors
    /// An input of another width.
    pub fn act(&self, plan: &mut Plan, name: &str, x: Tensor) -> Result<(Tensor, Tensor), PlanError> {
        let h = self.streams(plan, name, x, false)?;
        ValueHeadAct::push(plan, &self.head(), name, h)
    }

    /// As [`BranchingQ::act`], with Q less the largest of its branch: for a softmax ([`ValueHeadAct::push_with`]).
    ///
    /// # Errors
    /// An input of another width.
    pub fn act_gaps(&self, plan: &mut Plan, name: &str, x: Tensor) -> Result<(Tensor, Tensor), PlanError> {
        let h = self.streams(plan, name, x, false)?;
        ValueHeadAct::push_with(plan, &self.head(), name, h, true)
    }

    /// The sizes as the fused kernels take them.
    pub fn fused_shape(&self) -> DqnShape {
        let c = &self.config;
        DqnShape { inputs: c.inputs, trunk: c.trunk, stream: c.stream, head: c.head.clone() }
    }

    /// As [`BranchingQ::learn`], in fused kernels: where [`DqnKernels::run_on`] says so.
    ///
    /// # Errors
    /// Sizes that they are not written for.
    pub fn learn_fused(
        &self,
        plan: &mut Plan,
        kernels: DqnKernels,
        x: Tensor,
        samples: HeadSamples,
        optimiser: (Tensor, Tensor),
    ) -> Result<(Tensor, Tensor), PlanError> {
        let how = (self.config.mixture, self.config.trunk_gradient_scale);
        let t = FusedStep::push(plan, kernels, (self.fused_shape(), &self.net), x, samples, how)?;
        Optimise::push_normed(plan, &self.net, optimiser, t.norm);
        Ok((t.row_loss, t.total))
    }

    /// The greedy actions `[rows, D]` of [`BranchingQ::act`], in one kernel: where [`DqnKernels::Hopper`] run.
    /// `most_blocks` as [`FusedAct::push`] has it.
    ///
    /// # Errors
    /// Sizes that it is not written for.
    pub fn act_fused(
        &self,
        plan: &mut Plan,
        name: &str,
        x: Tensor,
        most_blocks: usize,
    ) -> Result<Tensor, PlanError> {
        FusedAct::push(plan, name, (self.fused_shape(), &self.net), x, most_blocks)
    }

    /// Commands that the plan does not know by name and that run this network on a Hopper GPU in BF16: `make` has the online
    /// net, and minus the mean of its head's units, made before. `reads` and `writes` are all else that they touch.
    pub fn run_foreign(
        &self,
        plan: &mut Plan,
        name: &'static str,
        buffers: (&[Tensor], &[Tensor]),
        make: impl Fn(&Lowering, DqnNet<'_>, &View) -> Result<Vec<Command>, PlanError> + 'static,
    ) {
        push_fused_foreign(plan, name, (self.fused_shape(), &self.net), buffers, make);
    }

    /// One learning step on `x [2B, S]` (s, then s'): forward passes, loss, backward pass, optimiser. Returns the loss
    /// of each row and the loss total.
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub fn learn(
        &self,
        plan: &mut Plan,
        x: Tensor,
        samples: HeadSamples,
        optimiser: (Tensor, Tensor),
    ) -> Result<(Tensor, Tensor), PlanError> {
        let batch = plan.info(x).rows / 2;
        let next = plan.rows("batch.next", x, batch, batch);
        let online = self.streams(plan, "online", x, false)?;
        let target = self.streams(plan, "target", next, true)?;
        let losses = ValueHeadLoss::push(plan, &self.head(), (online, target), samples, self.config.mixture)?;
        plan.backward(&[])?;
        Optimise::push(plan, &self.net, optimiser);
        Ok(losses)
    }
}
