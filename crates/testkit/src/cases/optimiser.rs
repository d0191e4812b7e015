//! Gradient norm, clip, AdamW, EMA and stochastic rounding against F64 and against the host's Philox.

use crate::{Case, CaseError, Output, Random, Setting};
use foxhunt_core::{
    Bf16, DType, Storage,
    rng::{Purpose, draw16, member_seed},
};
use foxhunt_device::Device;
use foxhunt_kernels::optim::{AdamSettings, Hyper, IMAGE_COLUMNS, OptimiserState};
use foxhunt_nn::{Init, Net, Options, ParamSpec, Plan, Tensor, op::Optimise};

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    let names = [
        "adamw",
        "adamw_pair",
        "adamw_nearest",
        "adamw_pair_nearest",
        "adamw_nearest_weights",
        "adamw_nearest_m",
        "adamw_nearest_v",
        "adamw_nearest_targets",
    ];
    names
        .into_iter()
        .zip(Storage::ALL)
        .map(|(name, storage)| Box::new(Optimiser { name, storage }) as Box<dyn Case>)
        .collect()
}

/// One way to store what the optimiser writes. In F32 all are the first.
struct Optimiser {
    name: &'static str,
    storage: Storage,
}

const STEPS: u64 = 3;
const BETA1: f64 = SETTINGS.beta1;
const BETA2: f64 = SETTINGS.beta2;
const TAU: f64 = SETTINGS.tau;
const DECAY: f64 = SETTINGS.weight_decay;
const EPS: f64 = SETTINGS.epsilon;
const CLIP: f64 = SETTINGS.clip;
const SETTINGS: AdamSettings =
    AdamSettings { learning_rate_end: 3e-5, learning_rate_steps: 2, clip: 1.0, ..AdamSettings::DEFAULT };

impl Case for Optimiser {
    fn name(&self) -> &'static str {
        self.name
    }

    /// Rows and columns of two matrices.
    fn sizes(&self) -> Vec<Vec<usize>> {
        [[1, 1], [33, 70], [300, 64]].map(Vec::from).into()
    }

    fn exact(&self) -> bool {
        true
    }

    fn run(&self, device: &Device, s: &Setting, check: bool) -> Result<Vec<Output>, CaseError> {
        let mut plan = Plan::new(s.dtype, s.members);
        plan.set_storage(self.storage);
        let (rows, cols) = (s.size[0], s.size[1]);
        let none = Init::Constant(0.0);
        let specs = vec![ParamSpec::matrix("w", rows, cols, none), ParamSpec::vector("b", rows, none)];
        let net = plan.net("net", specs);
        let state = Optimise::state(&mut plan, "net");
        Optimise::push(&mut plan, &net, state);
        let runtime = plan.compile(device, Options { guard_bytes: 64 })?;

        let mut random = Random::new(s.seed);
        let image = net.tiles * IMAGE_COLUMNS;
        let images = [net.weight, net.m, net.v, net.target, net.gradient];
        for (t, scale) in images.into_iter().zip([0.1, 1e-3, 1e-6, 0.1, 1e-2]) {
            let mut values = vec![0.0_f32; s.members * image];
            for member in 0..s.members {
                for p in &net.params {
                    for at in p.part_elements(0) {
                        for x in &mut values[member * image + at..member * image + at + p.spec.cols] {
                            *x = if s.wild { random.wild() } else { (scale * random.normal()) as f32 };
                            if t == net.v {
                                *x = x.abs();
                            }
                        }
                    }
                }
            }
            let low = low_word(&net, t);
            runtime.write_pair(t, low, &values)?;
            if let (true, Some(low)) = (s.wild, low) {
                // Any bits, so no remainder of the high word: sums that round, and Inf - Inf.
                let wild: Vec<f32> =
                    values.iter().map(|x| if *x == 0.0 { 0.0 } else { random.wild() }).collect();
                runtime.write(low, &wild)?;
            }
        }
        let seeds: Vec<u64> = (0..s.members as u64).map(|m| member_seed(s.seed, m)).collect();
        runtime.write_raw(state.1, &seeds.iter().map(|s| Hyper::new(&SETTINGS, *s)).collect::<Vec<_>>())?;

        // Step by step, so that each is held against F64 from the stored state before it.
        for step in 1..=STEPS {
            let read = |t: &Tensor| {
                let high = runtime.read(*t)?;
                let low = low_word(&net, *t).map(|low| runtime.read(low)).transpose()?;
                Ok::<_, CaseError>(Image { high, low })
            };
            let before: Vec<Image> = images.iter().map(read).collect::<Result<_, _>>()?;
            runtime.run("main", 1)?;
            device.synchronize()?;
            if check {
                let after: Vec<Image> = images[..4].iter().map(read).collect::<Result<_, _>>()?;
                for (m, seed) in seeds.iter().enumerate() {
                    check_step(s.dtype, &net, (*seed, step), m * image, &before, &after)?;
                }
            }
        }
        runtime.check_guards()?;
        let counters = runtime.read_raw::<OptimiserState>(state.0)?;
        if check {
            for c in &counters {
                let want = BETA2.powi(STEPS as i32) * 2_f64.powi(64);
                let off = (c.beta2_power as f64 / want - 1.0).abs();
                if c.step != STEPS || c.skipped != 0 || off > 1e-12 {
                    return Err(CaseError::Differs(format!("counters are {c:?}, beta2^t off by {off:e}")));
                }
            }
        }
        let mut outputs =
            vec![Output { name: "counters".into(), bytes: runtime.read_bytes(state.0)?, values: Vec::new() }];
        let low = net.low.into_iter().flat_map(|low| [(low.weight, "p.low"), (low.target, "target.low")]);
        for (t, name) in images.into_iter().zip(["p", "m", "v", "target"]).chain(low) {
            outputs.push(Output { name: name.into(), bytes: runtime.read_bytes(t)?, values: Vec::new() });
        }
        Ok(outputs)
    }
}

/// The low words of an image of the net, where it has any.
fn low_word(net: &Net, t: Tensor) -> Option<Tensor> {
    let low = net.low?;
    [(net.weight, low.weight), (net.target, low.target)]
        .into_iter()
        .find_map(|(high, low)| (high == t).then_some(low))
}

/// An image as the host reads it.
struct Image {
    high: Vec<f32>,
    low: Option<Vec<f32>>,
}

impl Image {
    /// An element's value, exactly.
    fn at(&self, i: usize) -> f64 {
        f64::from(self.high[i]) + self.low.as_ref().map_or(0.0, |low| f64::from(low[i]))
    }
}

/// One step of one member in F64 from the stored state; BF16 results must be one of the two neighbours, and the one
/// that the host's Philox says, or the nearest. Of a pair the high word must also be the nearest to the value.
fn check_step(
    dtype: DType,
    net: &Net,
    (seed, step): (u64, u64),
    base: usize,
    before: &[Image],
    after: &[Image],
) -> Result<(), CaseError> {
    let elements = || {
        net.params.iter().flat_map(|p| {
            let packs = p.spec.cols.div_ceil(8) * 8;
            p.part_elements(0).enumerate().flat_map(move |(row, at)| {
                (0..p.spec.cols).map(move |c| (p, at + c, (row * packs + c) as u64))
            })
        })
    };
    let done = ((step - 1) as f64 / f64::from(SETTINGS.learning_rate_steps)).min(1.0);
    let lr = SETTINGS.learning_rate + done * (SETTINGS.learning_rate_end - SETTINGS.learning_rate);
    let norm = elements().map(|(_, at, _)| before[4].at(base + at).powi(2)).sum::<f64>().sqrt();
    let factor = if norm > CLIP { CLIP / norm } else { 1.0 };
    for (p, at, element) in elements() {
        let [w, m, v, target, g] = [0, 1, 2, 3, 4].map(|i: usize| before[i].at(base + at));
        let g = g * factor;
        let m1 = m + (1.0 - BETA1) * (g - m);
        let v1 = v + (1.0 - BETA2) * (g * g - v);
        let c = |beta: f64| 1.0 - beta.powi(step as i32);
        let decay = if p.spec.decays { DECAY } else { 0.0 };
        let u = m1 / c(BETA1) / ((v1 / c(BETA2)).sqrt() + EPS);
        let w1 = w - lr * (u + decay * w);
        let t1 = target + TAU * (w1 - target);
        let purposes = [Purpose::RoundWeight, Purpose::RoundM, Purpose::RoundV, Purpose::RoundTarget];
        // What the F32 arithmetic works with: results may be small differences of these.
        let scales = [w.abs() + lr, m.abs() + g.abs(), v + g * g, target.abs() + w1.abs()];
        for (i, (want, purpose)) in [w1, m1, v1, t1].into_iter().zip(purposes).enumerate() {
            let got = after[i].at(base + at);
            let paired = after[i].low.is_some();
            // A pair is held to F32's own roundings: two of the value, and what is small beside it. Of the target's step
            // that is the rounding of what it goes towards, which may be much larger than where it ends.
            let towards = if i == 3 { TAU * (w1.abs() + target.abs()) } else { 0.0 };
            let slack = if paired { 1.3e-7 * (want.abs() + towards) + 1e-6 * lr } else { 1e-6 * scales[i] };
            let purpose = match purpose {
                Purpose::RoundWeight if paired => Purpose::RoundLow,
                Purpose::RoundTarget if paired => Purpose::RoundTargetLow,
                other => other,
            };
            let noise = draw16(seed, step, p.first_tensor, purpose, element);
            let sum = |(high, low): (Bf16, Bf16)| f64::from(high.to_f32()) + f64::from(low.to_f32());
            let round = |x: f64| match (paired, net.rounding.to_nearest()[i]) {
                (false, false) => f64::from(Bf16::from_f32_stochastic(x as f32, noise).to_f32()),
                (false, true) => f64::from(Bf16::from_f32(x as f32).to_f32()),
                (true, false) => sum(Bf16::split_stochastic(x as f32, noise)),
                (true, true) => sum(Bf16::split(x as f32)),
            };
            // Two may be the nearest: a low word may be rounded to half an ulp exactly.
            let nearest = f64::from(Bf16::from_f32(got as f32).to_f32());
            let high = f64::from(after[i].high[base + at]);
            let wrong = match dtype {
                DType::F32 => (got - want).abs() > slack,
                // Rounding with given noise is monotone; F64 and the kernel's F32 may straddle a threshold.
                DType::Bf16 => !(round(want - slack)..=round(want + slack)).contains(&got),
            } || paired && (got - high).abs() > (got - nearest).abs();
            if wrong {
                return Err(CaseError::Differs(format!(
                    "{}[{element}] of {} after step {step}: {got:e}, want {want:e}",
                    ["p", "m", "v", "target"][i],
                    p.spec.name
                )));
            }
        }
    }
    Ok(())
}
