//! `bench step`: the training step that `bench/peers` does in PyTorch and JAX.
//!
//! Sample B transitions from a replay of stored states (128 values each), three forward passes (online at s and s',
//! target at s'), C51 double-DQN loss on branches of 9, 3 and 3 actions with 51 atoms and targets per branch, backward,
//! global-norm clip, AdamW, EMA target. Trunk 256-256, streams of 128: 335,664 parameters.

use crate::{
    BenchError, Machine, Outcome, Rate, Soak, SoakResult, Timing, Work, network::learn_operations, work,
};
use foxhunt_core::{
    DType, Storage, Weights,
    rng::{draw, member_seed},
};
use foxhunt_device::{Device, Program};
use foxhunt_kernels::{
    fused::{DqnKernels, DqnShape},
    loss::{self, HeadShape, LossTotal},
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
const ADAM: AdamSettings = AdamSettings::DEFAULT;

/// One size of the benchmark.
#[derive(Clone, Copy, Debug)]
pub struct StepBench {
    /// Transitions of a batch.
    pub batch: usize,
    /// Population members.
    pub population: usize,
    /// Storage type.
    pub dtype: DType,
    /// In BF16, how weights and targets are stored; in F32 they are plain.
    pub weights: Weights,
    /// Rows of the replay.
    pub replay_rows: usize,
    /// Steps of one timing.
    pub steps: u32,
    /// Timings; the median is reported.
    pub repetitions: u32,
    /// The fused kernels that do it; none for the plan's span.
    pub kernels: Option<DqnKernels>,
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
    /// How weights and targets are stored.
    pub weights: Weights,
    /// Rows of the replay.
    pub replay_rows: usize,
    /// Whether fused kernels did it.
    pub fused: bool,
    /// Which: `hopper`, `mma`, or `span` for the plan's span.
    pub kernels: String,
    /// Time of a step.
    #[serde(flatten)]
    pub timing: Timing,
    /// The median per member.
    pub us_per_member: f64,
    /// Work of a step, and its rates.
    #[serde(flatten)]
    pub rate: Rate,
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
    /// How weights and targets are stored.
    pub weights: Weights,
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

/// The network of the peers.
fn network() -> BranchingQConfig {
    BranchingQConfig {
        inputs: INPUTS,
        trunk: [256, 256],
        stream: 128,
        head: HeadShape { actions: ACTIONS.into(), atoms: 51, v_min: -10.0, v_max: 10.0 },
        trunk_gradient_scale: 1.0,
        mixture: false,
    }
}

/// Its sizes as fused kernels take them.
pub fn step_shape() -> DqnShape {
    let c = network();
    DqnShape { inputs: c.inputs, trunk: c.trunk, stream: c.stream, head: c.head }
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
    /// How weights are stored.
    fn weights(&self) -> Weights {
        if self.dtype == DType::Bf16 { self.weights } else { Weights::Plain }
    }

    /// The plan of one step. Needs no device.
    ///
    /// # Errors
    /// Shapes that don't fit: none, if this file is right.
    pub fn plan(&self) -> Result<StepPlan, PlanError> {
        let mut plan = Plan::new(self.dtype, self.population);
        plan.set_storage(Storage { weights: self.weights(), ..Storage::default() });
        plan.program("step");
        let optimiser = Optimise::state(&mut plan, "q");
        let replay =
            ColumnReplay::push(&mut plan, (self.replay_rows, INPUTS, ACTIONS.len()), self.batch, optimiser.1);
        let net = BranchingQ::new(&mut plan, network());
        debug_assert_eq!(net.net.parameter_count(), PARAMETERS);
        let samples = HeadSamples { actions: replay.batch_actions, outcome: replay.batch_outcome };
        let (_, total) = match self.kernels {
            Some(kernels) => net.learn_fused(&mut plan, kernels, replay.x, samples, optimiser)?,
            None => net.learn(&mut plan, replay.x, samples, optimiser)?,
        };
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
            weights: self.weights(),
            replay_rows: self.replay_rows,
            memory: memory(&runtime),
        })
    }

    /// Bytes and operations of a step of all members.
    fn work(&self, plan: &Plan, program: &Program) -> Work {
        let samples = self.batch * self.population;
        // Both states of a sample, its actions and its outcome: not the whole replay.
        let picked = [
            ("replay.state", (2 * samples * INPUTS * self.dtype.bytes()) as u64),
            ("replay.actions", (samples * ACTIONS.len()) as u64),
            ("replay.outcome", (samples * size_of::<loss::Outcome>()) as u64),
        ];
        work(plan, program, &picked, samples as u64 * learn_operations(&network()))
    }

    /// Builds, warms up and times the step on `device`.
    ///
    /// # Errors
    /// The device's.
    pub fn run(&self, device: &Device, machine: Option<&Machine>) -> Result<StepResult, BenchError> {
        let step = self.prepare(device)?;
        let program = step.program()?;
        program.run(1)?;
        let first = step.mean_loss()?;
        program.run(self.steps.min(10))?;
        step.mean_loss()?;
        let timing = Timing::of(program.time_us(self.steps, self.repetitions)?);
        let last = step.mean_loss()?;
        Ok(StepResult {
            batch: self.batch,
            population: self.population,
            dtype: self.dtype.to_string(),
            weights: self.weights(),
            replay_rows: self.replay_rows,
            fused: self.kernels.is_some(),
            kernels: self.kernels.map_or_else(|| "span".to_owned(), |k| k.to_string()),
            timing,
            us_per_member: timing.us / self.population as f64,
            rate: Rate::new(self.work(&step.plan, program), timing.us, machine),
            loss: (first, last),
            arena_bytes: step.runtime.bytes(),
        })
    }

    /// Takes `soak` steps on `device`, and fails if one of them allocates, copies, waits or leaves memory behind.
    ///
    /// # Errors
    /// [`BenchError::Soak`], or the device's.
    pub fn soak(&self, device: &Device, soak: Soak) -> Result<SoakResult, BenchError> {
        let step = self.prepare(device)?;
        let program = step.program()?;
        program.run(2)?;
        step.mean_loss()?;
        let seen = soak.run(device, program)?;
        let loss = step.mean_loss()?;
        if !loss.is_finite() {
            let what = "no loss was finite".into();
            return Err(BenchError::Soak { steps: soak.steps, what });
        }
        Ok(SoakResult {
            batch: self.batch,
            population: self.population,
            dtype: self.dtype.to_string(),
            weights: self.weights(),
            steps: soak.steps,
            allocated: seen.allocated,
            free_fell: seen.free_fell,
            queued_us: seen.queued_us,
            us: seen.us,
            loss,
        })
    }

    /// The step on `device`, its replay and its members filled.
    fn prepare(&self, device: &Device) -> Result<Prepared, PlanError> {
        let StepPlan { plan, replay, net, hyper: hyper_tensor, total } = self.plan()?;
        let runtime = plan.compile(device, Options::default())?;

        runtime.write(replay.state, &normals(self.replay_rows * INPUTS))?;
        let noise = normals(self.replay_rows);
        let outcomes: Vec<loss::Outcome> = noise
            .iter()
            .enumerate()
            .map(|(i, x)| loss::Outcome {
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

        Ok(Prepared { plan, runtime, total })
    }
}

/// A step that can be run.
struct Prepared {
    plan: Plan,
    runtime: Runtime,
    total: Tensor,
}

impl Prepared {
    fn program(&self) -> Result<&Program, PlanError> {
        self.runtime.program("step")
    }

    /// Mean loss of the samples since this was last asked.
    fn mean_loss(&self) -> Result<f64, PlanError> {
        let totals = self.runtime.read_raw::<LossTotal>(self.total)?;
        let (loss, rows) = totals
            .iter()
            .fold((0.0, 0.0), |(l, n), t| (l + t.loss_q32 as f64 / 4_294_967_296.0, n + t.rows as f64));
        self.runtime.write_raw(self.total, &vec![LossTotal::default(); totals.len()])?;
        Ok(loss / rows)
    }
}

impl Outcome for StepResult {
    const WORKLOAD: &'static str = "step";

    fn columns() -> Vec<(&'static str, usize)> {
        let own = [
            ("dtype", 5),
            ("weights", 7),
            ("B", 6),
            ("P", 4),
            ("us/step", 10),
            ("us/member", 10),
            ("range", 19),
        ];
        own.into_iter().chain(Rate::COLUMNS).chain([("arena MiB", 9), ("loss", 16)]).collect()
    }

    fn cells(&self) -> Vec<String> {
        let own = [
            self.dtype.clone(),
            self.weights.to_string(),
            self.batch.to_string(),
            self.population.to_string(),
            format!("{:.1}", self.timing.us),
            format!("{:.1}", self.us_per_member),
            self.timing.range(),
        ];
        let rest = [
            format!("{:.0}", self.arena_bytes as f64 / f64::from(1 << 20)),
            format!("{:.4} -> {:.4}", self.loss.0, self.loss.1),
        ];
        own.into_iter().chain(self.rate.cells()).chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In F32 every product of the step is one of the library: the model asks for no other number of operations, but
    /// for the padding of 51 atoms to 56.
    #[test]
    fn operations_are_those_of_the_products() {
        for population in [1, 3] {
            let bench = StepBench {
                batch: 24,
                population,
                dtype: DType::F32,
                weights: Weights::Plain,
                replay_rows: 64,
                steps: 1,
                repetitions: 1,
                kernels: None,
            };
            let step = bench.prepare(&Device::cpu()).unwrap();
            let done: u64 = step.program().unwrap().traffic().iter().map(|t| t.product_operations).sum();
            let mut padded = network();
            padded.head.atoms = padded.head.unit_ld();
            assert_eq!(done, 24 * population as u64 * learn_operations(&padded));
        }
        assert_eq!(learn_operations(&network()), 3_272_704);
    }

    /// The replay counts as what is drawn from it, and a member's parameters as its own.
    #[test]
    fn bytes_follow_batch_and_members() {
        let of = |replay_rows, population| {
            let dtype = DType::Bf16;
            let bench = StepBench {
                batch: 32,
                population,
                dtype,
                weights: Weights::Plain,
                replay_rows,
                steps: 1,
                repetitions: 1,
                kernels: None,
            };
            let step = bench.prepare(&Device::cpu()).unwrap();
            bench.work(&step.plan, step.program().unwrap())
        };
        let one = of(64, 1);
        assert_eq!(one, of(4096, 1), "the rest of the replay is not read");
        // All but the numbers of the layout, which members share.
        let (two, three) = (of(64, 2), of(64, 3));
        assert_eq!(three.operations, 3 * one.operations);
        assert_eq!(three.bytes - two.bytes, two.bytes - one.bytes);
        let shared = 2 * one.bytes - two.bytes;
        assert!(shared < one.bytes / 4, "{shared} of {} bytes are shared", one.bytes);
        // At least the optimiser's five images read and four written.
        assert!(one.bytes > 9 * 2 * PARAMETERS as u64, "{}", one.bytes);
    }
}
