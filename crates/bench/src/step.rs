//! `bench step`: the training step that `bench/peers` does in PyTorch and JAX.
//!
//! Sample B transitions from a replay of stored states (128 values each), three forward passes (online at s and s',
//! target at s'), C51 double-DQN loss on branches of 9, 3 and 3 actions with 51 atoms and targets per branch, backward,
//! global-norm clip, AdamW, EMA target. Trunk 256-256, streams of 128: 335,664 parameters.

use foxhunt_core::{
    DType,
    rng::{draw, member_seed},
};
use foxhunt_device::Device;
use foxhunt_kernels::{
    loss::{HeadShape, LossTotal, Outcome},
    optim::{AdamSettings, Hyper},
};
use foxhunt_nn::{
    Memory, MemoryPurpose, Net, Options, Plan, PlanError, Runtime, Tensor,
    net::{BranchingQ, BranchingQConfig},
    op::{ColumnReplay, ColumnTensors, HeadSamples, Optimise},
};
use rayon::prelude::*;
use serde::Serialize;

const INPUTS: usize = 128;
const ACTIONS: [usize; 3] = [9, 3, 3];
const PARAMETERS: usize = 335_664;
const SEED: u64 = 1;
const ADAM: AdamSettings = AdamSettings {
    learning_rate: 3e-4,
    learning_rate_end: 0.0,
    learning_rate_steps: 0,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weight_decay: 0.01,
    clip: 10.0,
    tau: 0.005,
};

/// One size of the benchmark.
#[derive(Clone, Copy, Debug)]
pub struct StepBench {
    /// Transitions of a batch.
    pub batch: usize,
    /// Population members.
    pub population: usize,
    /// Storage type.
    pub dtype: DType,
    /// Rows of the replay.
    pub replay_rows: usize,
    /// Steps of one timing.
    pub steps: u32,
    /// Timings; the median is reported.
    pub repetitions: u32,
    /// Whether the fused kernels do it, where the device has them.
    pub fused: bool,
}

/// What one size took.
#[derive(Clone, Debug, Serialize)]
pub struct StepResult {
    /// Transitions of a batch.
    pub batch: usize,
    /// Population members.
    pub population: usize,
    /// Storage type.
    pub dtype: String,
    /// Rows of the replay.
    pub replay_rows: usize,
    /// Median time of a step, microseconds.
    pub us: f64,
    /// The same per member.
    pub us_per_member: f64,
    /// Fastest and slowest timing.
    pub us_range: (f64, f64),
    /// Rate at the multiplications and additions that the matrix products need.
    pub tflops: f64,
    /// Mean loss of the first step, and of the steps after the last timing began.
    pub loss: (f64, f64),
    /// Bytes of the plan's arena.
    pub arena_bytes: usize,
}

/// What one size holds.
#[derive(Clone, Debug, Serialize)]
pub struct StepMemory {
    /// Transitions of a batch.
    pub batch: usize,
    /// Population members.
    pub population: usize,
    /// Storage type.
    pub dtype: String,
    /// Rows of the replay.
    pub replay_rows: usize,
    /// Bytes by purpose.
    pub memory: Memory,
}

fn memory(runtime: &Runtime) -> Memory {
    let mut memory = *runtime.memory();
    memory.add_untyped(MemoryPurpose::Workspace, runtime.device().workspace_bytes());
    memory
}

/// Floating-point operations of one sample's matrix products: three forward passes, and for one of them the gradients
/// of weights and of activations (the first layer's input has none).
fn flops_per_sample() -> f64 {
    let first = INPUTS * 256;
    let rest = 256 * 256 + 256 * 512 + 128 * 51 * (1 + ACTIONS.iter().sum::<usize>());
    2.0 * (3 * (first + rest) + first + 2 * rest) as f64
}

/// `n` standard normals, the same on every machine.
fn normals(n: usize) -> Vec<f32> {
    let mut out = vec![0.0; n];
    out.par_chunks_mut(4).enumerate().for_each(|(i, chunk)| {
        let words = draw(SEED, 0, 0x00be_9c48, foxhunt_core::rng::Purpose::Sample, i as u32);
        let unit = |w: u32| (f64::from(w) + 0.5) / 4_294_967_296.0;
        let pair = |a: u32, b: u32| {
            let (r, t) = ((-2.0 * unit(a).ln()).sqrt(), std::f64::consts::TAU * unit(b));
            [(r * t.cos()) as f32, (r * t.sin()) as f32]
        };
        let [a, b, c, d] = words;
        let four = [pair(a, b), pair(c, d)].concat();
        chunk.copy_from_slice(&four[..chunk.len()]);
    });
    out
}

/// The step as a plan, and the tensors that the host fills and reads.
pub struct StepPlan {
    /// The plan; its program is called `step`.
    pub plan: Plan,
    replay: ColumnTensors,
    net: Net,
    hyper: Tensor,
    total: Tensor,
}

impl StepBench {
    /// The plan of one step. Needs no device.
    ///
    /// # Errors
    /// Shapes that don't fit: none, if this file is right.
    pub fn plan(&self) -> Result<StepPlan, PlanError> {
        let mut plan = Plan::new(self.dtype, self.population);
        plan.program("step");
        let optimiser = Optimise::state(&mut plan, "q");
        let replay =
            ColumnReplay::push(&mut plan, (self.replay_rows, INPUTS, ACTIONS.len()), self.batch, optimiser);
        let net = BranchingQ::new(
            &mut plan,
            BranchingQConfig {
                inputs: INPUTS,
                trunk: [256, 256],
                stream: 128,
                head: HeadShape { actions: ACTIONS.into(), atoms: 51, v_min: -10.0, v_max: 10.0 },
                trunk_gradient_scale: 1.0,
                mixture: false,
            },
        );
        debug_assert_eq!(net.net.parameter_count(), PARAMETERS);
        let samples = HeadSamples { actions: replay.batch_actions, outcome: replay.batch_outcome };
        let learn = if self.fused { BranchingQ::learn_fused } else { BranchingQ::learn };
        let (_, total) = learn(&net, &mut plan, replay.x, samples, optimiser)?;
        Ok(StepPlan { plan, replay, net: net.net, hyper: optimiser.1, total })
    }

    /// Device memory of the step by purpose, the matrix library's workspace included. Builds the step on `device`, and
    /// runs nothing.
    ///
    /// # Errors
    /// The device's.
    pub fn memory(&self, device: &Device) -> Result<StepMemory, PlanError> {
        let runtime = self.plan()?.plan.compile(device, Options::default())?;
        Ok(StepMemory {
            batch: self.batch,
            population: self.population,
            dtype: self.dtype.to_string(),
            replay_rows: self.replay_rows,
            memory: memory(&runtime),
        })
    }

    /// Builds, warms up and times the step on `device`.
    ///
    /// # Errors
    /// The device's.
    pub fn run(&self, device: &Device) -> Result<StepResult, PlanError> {
        let StepPlan { plan, replay, net, hyper: hyper_tensor, total } = self.plan()?;
        let runtime = plan.compile(device, Options::default())?;

        runtime.write(replay.state, &normals(self.replay_rows * INPUTS))?;
        let noise = normals(self.replay_rows);
        let outcomes: Vec<Outcome> = noise
            .iter()
            .enumerate()
            .map(|(i, x)| Outcome {
                return_q20: (f64::from(*x) * 0.1 * f64::from(1 << 20)) as i32,
                discount_q31: if i % 100 == 99 { 0 } else { (0.99 * f64::from(1_u32 << 31)) as u32 },
                index: i as u32,
                steps: 1,
            })
            .collect();
        runtime.write_raw(replay.outcome, &outcomes)?;
        let actions: Vec<u8> = (0..self.replay_rows)
            .flat_map(|i| {
                let w = draw(SEED, 1, 0, foxhunt_core::rng::Purpose::Explore, i as u32);
                [(w[0] % 9) as u8, (w[1] % 3) as u8, (w[2] % 3) as u8]
            })
            .collect();
        runtime.write_raw(replay.actions, &actions)?;
        let seeds: Vec<u64> = (0..self.population as u64).map(|m| member_seed(SEED, m)).collect();
        let hyper: Vec<Hyper> = seeds.iter().map(|seed| Hyper::new(&ADAM, *seed)).collect();
        runtime.write_raw(hyper_tensor, &hyper)?;
        let image: Vec<f32> = seeds.iter().flat_map(|s| net.initial_image(*s)).collect();
        runtime.write(net.weight, &image)?;
        runtime.write(net.target, &image)?;

        let mean_loss = || -> Result<f64, PlanError> {
            let totals = runtime.read_raw::<LossTotal>(total)?;
            let (loss, rows) = totals
                .iter()
                .fold((0.0, 0.0), |(l, n), t| (l + t.loss_q32 as f64 / 4_294_967_296.0, n + t.rows as f64));
            runtime.write_raw(total, &vec![LossTotal::default(); totals.len()])?;
            Ok(loss / rows)
        };
        let program = runtime.program("step")?;
        program.run(1)?;
        let first = mean_loss()?;
        program.run(self.steps.min(10))?;
        mean_loss()?;
        let mut times = program.time_us(self.steps, self.repetitions)?;
        let last = mean_loss()?;
        times.sort_by(f64::total_cmp);
        let us = times[times.len() / 2];
        let flops = flops_per_sample() * (self.batch * self.population) as f64;
        Ok(StepResult {
            batch: self.batch,
            population: self.population,
            dtype: self.dtype.to_string(),
            replay_rows: self.replay_rows,
            us,
            us_per_member: us / self.population as f64,
            us_range: (times[0], times[times.len() - 1]),
            tflops: flops / us / 1e6,
            loss: (first, last),
            arena_bytes: runtime.bytes(),
        })
    }
}
