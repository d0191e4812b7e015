//! A small branching Q-network that learns from batches of the host.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "shared by several test binaries")]

use foxhunt_core::{
    DType,
    rng::{Purpose, draw},
};
use foxhunt_device::Device;
use foxhunt_kernels::{
    Element,
    loss::{HeadShape, LossTotal, Outcome},
    optim::{AdamSettings, Hyper, IMAGE_COLUMNS, OptimiserState},
};
use foxhunt_nn::{
    Net, NetParam, Options, Plan, Runtime, Tensor,
    net::{BranchingQ, BranchingQConfig},
    op::{HeadSamples, Optimise},
};

/// Uniform numbers in [0, 1), a function of the seed.
pub struct Uniform {
    seed: u64,
    next: u64,
}

impl Uniform {
    pub fn new(seed: u64) -> Self {
        Uniform { seed, next: 0 }
    }

    pub fn unit(&mut self) -> f64 {
        self.next += 1;
        f64::from(draw(self.seed, self.next, 0x7e57, Purpose::Sample, 0)[0]) / 4_294_967_296.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// In -scale..scale.
    pub fn within(&mut self, scale: f64) -> f32 {
        ((2.0 * self.unit() - 1.0) * scale) as f32
    }
}

/// Real units to the fixed point of an outcome.
pub fn outcome(value: f64, discount: f64, steps: u32) -> Outcome {
    Outcome {
        return_q20: (value * f64::from(1 << 20)).round() as i32,
        discount_q31: (discount * 2_f64.powi(31)).round() as u32,
        index: 0,
        steps,
    }
}

/// The network of the tests: `inputs` -> 32 -> 32 -> streams of 32.
pub fn small(inputs: usize, head: HeadShape) -> BranchingQConfig {
    let branches = head.actions.len();
    BranchingQConfig {
        inputs,
        trunk: [32, 32],
        stream: 32,
        head,
        trunk_gradient_scale: 1.0 / (branches + 1) as f32,
        mixture: true,
    }
}

/// Adam without weight decay, a target that follows at `tau`.
pub fn adam(learning_rate: f64, tau: f64) -> AdamSettings {
    AdamSettings { learning_rate, weight_decay: 0.0, tau, ..AdamSettings::DEFAULT }
}

/// One member: programs `act` on `rows` observations and `learn` on batches of `batch`.
pub struct Learner {
    pub config: BranchingQConfig,
    pub batch: usize,
    pub net: Net,
    pub runtime: Runtime,
    /// A net whose one parameter is x `[2B, S]`: s, then s'; its gradient image is that of the observations.
    pub input: Net,
    pub observation: Tensor,
    pub q: Tensor,
    pub greedy: Tensor,
    pub row_loss: Tensor,
    total: Tensor,
    actions: Tensor,
    outcome: Tensor,
    counters: Tensor,
}

impl Learner {
    pub fn new(
        dtype: DType,
        config: BranchingQConfig,
        (rows, batch): (usize, usize),
        adam: &AdamSettings,
        seed: u64,
    ) -> Self {
        let mut plan = Plan::new(dtype, 1);
        let state = Optimise::state(&mut plan, "q");
        let q_net = BranchingQ::new(&mut plan, config.clone());
        let none = foxhunt_nn::Init::Constant(0.0);
        let input = plan.net("in", vec![foxhunt_nn::ParamSpec::matrix("x", 2 * batch, config.inputs, none)]);
        let branches = config.head.actions.len();
        let actions = plan.buffer("actions", Element::U8, batch, branches);
        let outcome = plan.buffer("outcome", Element::of::<Outcome>(), batch, 1);
        let observation = plan.real_buffer("observation", rows, config.inputs);
        plan.program("act");
        let (q, greedy) = q_net.act(&mut plan, "act", observation).unwrap();
        plan.program("learn");
        let samples = HeadSamples { actions, outcome };
        let (row_loss, total) = q_net.learn(&mut plan, input.params[0].weight, samples, state).unwrap();
        let runtime = plan.compile(&Device::cpu(), Options::default()).unwrap();
        let net = q_net.net;
        runtime.write_raw(state.1, &[Hyper::new(adam, seed)]).unwrap();
        let image = net.initial_image(seed);
        runtime.write(net.weight, &image).unwrap();
        runtime.write(net.target, &image).unwrap();
        Learner {
            config,
            batch,
            net,
            runtime,
            input,
            observation,
            q,
            greedy,
            row_loss,
            total,
            actions,
            outcome,
            counters: state.0,
        }
    }

    /// Writes s and s' `[B, S]` each, actions `[B, D]` and outcomes of a batch.
    pub fn write(&self, s: &[f32], next: &[f32], actions: &[u8], outcome: &[Outcome]) {
        self.runtime.write(self.input.params[0].weight, &[s, next].concat()).unwrap();
        self.runtime.write_raw(self.actions, actions).unwrap();
        self.runtime.write_raw(self.outcome, outcome).unwrap();
    }

    pub fn learn(&self) {
        self.runtime.run("learn", 1).unwrap();
    }

    /// Q `[rows, sum of actions]` and greedy actions `[rows, D]` of observations.
    pub fn act(&self, observations: &[f32]) -> (Vec<f32>, Vec<u8>) {
        self.runtime.write(self.observation, observations).unwrap();
        self.runtime.run("act", 1).unwrap();
        (self.runtime.read(self.q).unwrap(), self.runtime.read_raw(self.greedy).unwrap())
    }

    pub fn losses(&self) -> Vec<f32> {
        self.runtime.read(self.row_loss).unwrap()
    }

    pub fn total(&self) -> LossTotal {
        self.runtime.read_raw::<LossTotal>(self.total).unwrap()[0]
    }

    pub fn counters(&self) -> OptimiserState {
        self.runtime.read_raw::<OptimiserState>(self.counters).unwrap()[0]
    }

    /// Logical values of all parts of parameter `name` in an image of this net: `[logical rows, cols]`.
    pub fn logical(&self, image: Tensor, name: &str) -> Vec<f32> {
        let (p, values) = (self.param(name), self.runtime.read(image).unwrap());
        let parts = 0..p.spec.parts.len();
        let cols = p.spec.cols;
        parts.flat_map(|i| p.part_elements(i)).flat_map(|at| values[at..at + cols].to_vec()).collect()
    }

    /// The same, written.
    pub fn set_logical(&self, image: Tensor, name: &str, logical: &[f32]) {
        let p = self.param(name);
        let mut values = self.runtime.read(image).unwrap();
        let rows = (0..p.spec.parts.len()).flat_map(|i| p.part_elements(i));
        for (at, row) in rows.zip(logical.chunks(p.spec.cols)) {
            values[at..at + row.len()].copy_from_slice(row);
        }
        self.runtime.write(image, &values).unwrap();
    }

    fn param(&self, name: &str) -> &NetParam {
        self.net.param(name).unwrap()
    }

    /// Gradient of the observations `[2B, S]`.
    pub fn input_gradient(&self) -> Vec<f32> {
        let p = &self.input.params[0];
        let image = self.runtime.read(self.input.gradient).unwrap();
        assert!(image.len().is_multiple_of(IMAGE_COLUMNS));
        (0..2 * self.batch).flat_map(|r| image[r * p.ld..][..p.spec.cols].to_vec()).collect()
    }
}

/// One C51 distribution of an F64 reference.
pub fn softmax(l: &[f64]) -> Vec<f64> {
    let top = l.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let e: Vec<f64> = l.iter().map(|x| (x - top).exp()).collect();
    let z: f64 = e.iter().sum();
    e.iter().map(|e| e / z).collect()
}
