use super::differing;
use crate::CaseError;
use foxhunt_core::{DType, Rounding, Storage, Weights, rng::member_seed};
use foxhunt_device::Device;
use foxhunt_kernels::optim::{Hyper, IMAGE_COLUMNS, OptimiserState};
use foxhunt_nn::{Init, Net, Options, ParamSpec, Plan, Runtime, Tensor, op::Optimise};

/// A fixed-point number with `bits` bits after the point.
pub(super) fn fixed(x: f64, bits: i32) -> u64 {
    (x * 2_f64.powi(bits)).round() as u64
}

/// Hyperparameters of which an update can be told beforehand: both betas next to 0, so that m is g and v is g^2 and
/// the update is lr times the sign of -g, exactly; no decay, no target, no clip.
pub(super) fn plain(lr: f64) -> Hyper {
    Hyper {
        beta1_q64: 1,
        beta2_q64: 1,
        // Vanishes beside 1, and keeps 0 / 0 away.
        eps_q64: 1 << 30,
        lr_q40: fixed(lr, 40) as u32,
        ..Default::default()
    }
}

/// The default, and what is compared with it.
pub(super) const PLAIN: Storage = Storage { weights: Weights::Plain, rounding: Rounding::Stochastic };
/// Pairs.
pub(super) const PAIRED: Storage = Storage { weights: Weights::Paired, rounding: Rounding::Stochastic };
/// Plain and to nearest: what loses.
pub(super) const NEAREST: Storage = Storage { weights: Weights::Plain, rounding: Rounding::Nearest };
/// Pairs whose low word is rounded to nearest, as compensated summation has it: loses later.
pub(super) const PAIRED_NEAREST: Storage = Storage { weights: Weights::Paired, rounding: Rounding::Nearest };

fn seed_of(member: usize) -> u64 {
    member_seed(0x0b5e, member as u64)
}

/// The real optimiser on one matrix per member: every element is a lane of the experiment.
pub(super) struct Rig {
    pub(super) runtime: Runtime,
    pub(super) net: Net,
    pub(super) counters: Tensor,
    pub(super) norm: Tensor,
    pub(super) members: usize,
    pub(super) lanes: usize,
}

impl Rig {
    /// `tiles` times 2048 lanes for each of the members that `hyper` describes; their seeds are set here.
    pub(super) fn new(device: &Device, tiles: usize, hyper: &[Hyper]) -> Result<Self, CaseError> {
        Self::stored(device, PLAIN, tiles, hyper)
    }

    /// The same with weights and targets stored, and all rounded, in another way.
    pub(super) fn stored(
        device: &Device,
        storage: Storage,
        tiles: usize,
        hyper: &[Hyper],
    ) -> Result<Self, CaseError> {
        let mut plan = Plan::new(DType::Bf16, hyper.len());
        plan.set_storage(storage);
        let none = Init::Constant(0.0);
        let net = plan.net("net", vec![ParamSpec::matrix("w", tiles, IMAGE_COLUMNS, none)]);
        let (counters, hypers) = Optimise::state(&mut plan, "net");
        Optimise::push(&mut plan, &net, (counters, hypers));
        let Some(norm) = plan.find("net.norm") else {
            return Err(CaseError::Differs("the optimiser has no norm".into()));
        };
        let runtime = plan.compile(device, Options { guard_bytes: 64 })?;
        let hyper: Vec<Hyper> =
            hyper.iter().enumerate().map(|(m, h)| Hyper { seed: seed_of(m), ..*h }).collect();
        runtime.write_raw(hypers, &hyper)?;
        Ok(Rig { runtime, net, counters, norm, members: hyper.len(), lanes: tiles * IMAGE_COLUMNS })
    }

    /// The key of a member's noise.
    pub(super) fn seed(&self, member: usize) -> u64 {
        seed_of(member)
    }

    /// The low word of `t`, where it has one.
    fn low(&self, t: Tensor) -> Option<Tensor> {
        let low = self.net.low?;
        [(self.net.weight, low.weight), (self.net.target, low.target)]
            .into_iter()
            .find_map(|(high, low)| (high == t).then_some(low))
    }

    /// Sets every lane of member m to `values[m]`.
    pub(super) fn set(&self, t: Tensor, values: &[f32]) -> Result<(), CaseError> {
        let all: Vec<f32> = values.iter().flat_map(|x| vec![*x; self.lanes]).collect();
        Ok(self.runtime.write_pair(t, self.low(t), &all)?)
    }

    pub(super) fn run(&self, steps: u32) -> Result<(), CaseError> {
        self.runtime.run("main", steps)?;
        self.runtime.device().synchronize()?;
        Ok(self.runtime.check_guards()?)
    }

    /// The first member's counters.
    pub(super) fn counters(&self) -> Result<OptimiserState, CaseError> {
        Ok(self.runtime.read_raw::<OptimiserState>(self.counters)?[0])
    }

    pub(super) fn set_counters(&self, state: OptimiserState) -> Result<(), CaseError> {
        Ok(self.runtime.write_raw(self.counters, &vec![state; self.members])?)
    }

    /// The lanes of every member, of pairs high and low word together.
    pub(super) fn lanes(&self, t: Tensor) -> Result<Vec<Vec<f64>>, CaseError> {
        let all = self.runtime.read_pair(t, self.low(t))?;
        Ok(all.chunks(self.lanes).map(|m| m.iter().map(|x| f64::from(*x)).collect()).collect())
    }

    /// `steps` steps from weights and targets at 1 under a gradient of -1, replayed and then one by one without a graph: the
    /// rig of the first, and how many elements of the images differ.
    pub(super) fn replayed_and_eager(
        device: &Device,
        storage: Storage,
        hyper: Hyper,
        steps: u32,
    ) -> Result<(Self, usize), CaseError> {
        let start = || -> Result<Self, CaseError> {
            let rig = Rig::stored(device, storage, 2, &[hyper])?;
            rig.set(rig.net.weight, &[1.0])?;
            rig.set(rig.net.target, &[1.0])?;
            rig.set(rig.net.gradient, &[-1.0])?;
            Ok(rig)
        };
        let (replayed, eager) = (start()?, start()?);
        replayed.run(steps)?;
        let program = eager.runtime.program("main")?;
        for _ in 0..steps {
            program.run_eager()?;
        }
        eager.run(0)?;
        let differing = differing(&replayed.bits()?, &eager.bits()?);
        Ok((replayed, differing))
    }

    /// The bits of all images that a step overwrites.
    pub(super) fn bits(&self) -> Result<Vec<u16>, CaseError> {
        let n = &self.net;
        let mut out = Vec::new();
        let low = n.low.into_iter().flat_map(|low| [low.weight, low.target]);
        for t in [n.weight, n.m, n.v, n.target].into_iter().chain(low) {
            out.extend(self.runtime.read_raw::<u16>(t)?);
        }
        Ok(out)
    }
}
