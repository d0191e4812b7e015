//! The fused step beside the span of operations that it replaces: same weights, same batch, one step.

use crate::{CaseError, Random};
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_device::Device;
use foxhunt_kernels::{
    Element,
    fused::DqnShape,
    loss::{HeadShape, LossTotal, Outcome},
    optim::{AdamSettings, Hyper},
};
use foxhunt_nn::{
    Net, Options, Plan, Runtime, Tensor,
    net::{BranchingQ, BranchingQConfig},
    op::{HeadSamples, Optimise},
};

/// Relative L2 distance that BF16 activations and gradients of this depth may have: each is rounded to 2^-9 of itself, here
/// and there in a different order of sums.
const ALLOWED: f64 = 0.015;
/// Bytes watched after every buffer.
const GUARD_BYTES: usize = 256;

/// A size of network and batch.
#[derive(Clone, Debug)]
pub struct FusedCase {
    /// The network.
    pub shape: DqnShape,
    /// Rows of the batch.
    pub batch: usize,
    /// Population members.
    pub members: usize,
    /// Whether branches share the mixture of their targets.
    pub mixture: bool,
}

/// One tensor of both.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// What is compared.
    pub what: String,
    /// Relative L2 distance.
    pub difference: f64,
    /// Largest that is allowed.
    pub allowed: f64,
}

impl Agreement {
    /// Whether it is within what is allowed: NaN isn't.
    pub fn holds(&self) -> bool {
        self.difference <= self.allowed
    }
}

/// The sizes that are checked: those of the configurations and of the bench, odd batches, several members.
pub fn fused_cases() -> Vec<FusedCase> {
    let case = |inputs, trunk, stream, actions: &[usize], atoms, batch, members| {
        let head = HeadShape { actions: actions.to_vec(), atoms, v_min: -10.0, v_max: 10.0 };
        let shape = DqnShape { inputs, trunk, stream, head };
        FusedCase { shape, batch, members, mixture: batch % 2 == 1 }
    };
    vec![
        case(128, [256, 256], 128, &[9, 3, 3], 51, 512, 1),
        case(128, [256, 256], 128, &[9, 3, 3], 51, 16_384, 1),
        case(128, [256, 256], 128, &[9, 3, 3], 51, 1, 1),
        case(256, [512, 256], 128, &[9, 3, 3], 51, 197, 3),
        case(256, [512, 256], 128, &[9, 3, 3], 51, 1024, 9),
        case(64, [128, 128], 64, &[9, 3, 3], 51, 64, 2),
        case(192, [192, 128], 64, &[2], 16, 333, 2),
        case(64, [64, 256], 64, &[5, 16], 64, 130, 1),
    ]
}

struct Side {
    plan: Plan,
    runtime: Runtime,
    net: Net,
    total: Tensor,
    row_loss: Tensor,
}

fn side(device: &Device, case: &FusedCase, fused: bool) -> Result<Side, CaseError> {
    let (shape, batch) = (&case.shape, case.batch);
    let mut plan = Plan::new(DType::Bf16, case.members);
    let state = Optimise::state(&mut plan, "q");
    let x = plan.real_buffer("x", 2 * batch, shape.inputs);
    let actions = plan.buffer("actions", Element::U8, batch, shape.head.actions.len());
    let outcome = plan.buffer("outcome", Element::of::<Outcome>(), batch, 1);
    let config = BranchingQConfig {
        inputs: shape.inputs,
        trunk: shape.trunk,
        stream: shape.stream,
        head: shape.head.clone(),
        trunk_gradient_scale: 0.25,
        mixture: case.mixture,
    };
    let net = BranchingQ::new(&mut plan, config);
    let samples = HeadSamples { actions, outcome };
    let (row_loss, total) = if fused {
        net.learn_fused(&mut plan, x, samples, state)?
    } else {
        net.learn(&mut plan, x, samples, state)?
    };
    let runtime = plan.compile(device, Options { guard_bytes: GUARD_BYTES })?;
    let rows = batch * case.members;
    let mut random = Random::new(71);
    let xs: Vec<f32> = (0..2 * rows * shape.inputs).map(|_| random.normal() as f32).collect();
    runtime.write(x, &xs)?;
    let taken: Vec<u8> = (0..rows)
        .flat_map(|_| shape.head.actions.iter().map(|n| random.below(*n) as u8).collect::<Vec<_>>())
        .collect();
    runtime.write_raw(actions, &taken)?;
    let outcomes: Vec<Outcome> = (0..rows)
        .map(|i| Outcome {
            return_q20: (random.normal() * f64::from(1 << 20)) as i32,
            discount_q31: if i % 17 == 3 { 0 } else { (0.99 * f64::from(1_u32 << 31)) as u32 },
            index: i as u32,
            steps: 1,
        })
        .collect();
    runtime.write_raw(outcome, &outcomes)?;
    let adam = AdamSettings {
        learning_rate: 3e-4,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weight_decay: 0.0,
        clip: 10.0,
        tau: 0.005,
    };
    let seeds: Vec<u64> = (0..case.members as u64).map(|m| member_seed(5, m)).collect();
    runtime.write_raw(state.1, &seeds.iter().map(|s| Hyper::new(&adam, *s)).collect::<Vec<_>>())?;
    // Twice as wide as a fresh net's, so that distributions differ from one another.
    let image = |salt: u64| -> Vec<f32> {
        seeds.iter().flat_map(|s| net.net.initial_image(s ^ salt)).map(|w| 2.0 * w).collect()
    };
    runtime.write(net.net.weight, &image(0))?;
    runtime.write(net.net.target, &image(99))?;
    runtime.run("main", 1)?;
    device.synchronize()?;
    runtime.check_guards()?;
    Ok(Side { plan, runtime, net: net.net, total, row_loss })
}

/// `|a - b| / |b|`.
fn distance(a: &[f32], b: &[f32]) -> f64 {
    let square = |x: f64| x * x;
    let apart: f64 = a.iter().zip(b).map(|(a, b)| square(f64::from(*a) - f64::from(*b))).sum();
    let length: f64 = b.iter().map(|b| square(f64::from(*b))).sum();
    if a.len() == b.len() { (apart / length.max(1e-60)).sqrt() } else { f64::INFINITY }
}

/// Runs a case both ways and compares loss, activations and every gradient.
///
/// # Errors
/// The device's.
pub fn check_fused(device: &Device, case: &FusedCase) -> Result<Vec<Agreement>, CaseError> {
    let (span, fused) = (side(device, case, false)?, side(device, case, true)?);
    let mut out = Vec::new();
    let mut add = |what: &str, a: &[f32], b: &[f32], allowed| {
        out.push(Agreement { what: what.to_owned(), difference: distance(a, b), allowed });
    };
    for (layer, width) in ["online.h1", "online.h2", "online.h3"].into_iter().zip([
        case.shape.trunk[0],
        case.shape.trunk[1],
        case.shape.streams() * case.shape.stream,
    ]) {
        let (Some(a), Some(b)) = (fused.plan.find(layer), span.plan.find(layer)) else { continue };
        // The span's hold s and then s'.
        let all = span.runtime.read(b)?;
        let now: Vec<f32> =
            all.chunks(2 * case.batch * width).flat_map(|m| &m[..case.batch * width]).copied().collect();
        add(layer, &fused.runtime.read(a)?, &now, ALLOWED);
    }
    for layer in ["h1", "h2", "h3"] {
        let (a, b) = (format!("d.online.{}", layer.replace('h', "z")), format!("d.online.{layer}.2"));
        let (Some(a), Some(b)) = (fused.plan.find(&a), span.plan.find(&b)) else { continue };
        add(&format!("d.online.{layer}"), &fused.runtime.read(a)?, &span.runtime.read(b)?, 2.0 * ALLOWED);
    }
    let loss = |s: &Side| -> Result<Vec<f32>, CaseError> {
        let totals = s.runtime.read_raw::<LossTotal>(s.total)?;
        Ok(totals
            .iter()
            .flat_map(|t| [(t.loss_q32 as f64 / 4_294_967_296.0) as f32, t.rows as f32, t.bad as f32])
            .collect())
    };
    add("loss of rows", &fused.runtime.read(fused.row_loss)?, &span.runtime.read(span.row_loss)?, ALLOWED);
    add("loss", &loss(&fused)?, &loss(&span)?, ALLOWED / 5.0);
    let (a, b) = (fused.runtime.read(fused.net.gradient)?, span.runtime.read(span.net.gradient)?);
    let image = a.len() / case.members;
    for p in &span.net.params {
        let part = |x: &[f32]| -> Vec<f32> {
            (0..case.members)
                .flat_map(|m| {
                    (0..p.spec.parts.len())
                        .flat_map(|i| p.part_elements(i).collect::<Vec<_>>())
                        .flat_map(|at| x[m * image + at..m * image + at + p.spec.cols].to_vec())
                        .collect::<Vec<f32>>()
                })
                .collect()
        };
        add(&format!("d.{}", p.spec.name), &part(&a), &part(&b), 2.0 * ALLOWED);
        if p.spec.name == "w_s1" {
            let (x, y) = (part(&a), part(&b));
            let cols = p.spec.cols;
            let mut e: Vec<(f32, usize, usize, f32, f32)> = x.iter().zip(&y).enumerate().map(|(i, (u, v))| ((u - v).abs(), i / cols, i % cols, *u, *v)).collect();
            e.sort_by(|a, b| b.0.total_cmp(&a.0));
            eprintln!("{:?}", &e[..12.min(e.len())]);
        }
    }
    let (a, b) = (fused.runtime.read(fused.net.weight)?, span.runtime.read(span.net.weight)?);
    add("weights after the step", &a, &b, ALLOWED);
    let dirt = a.iter().zip(&b).filter(|(a, b)| **b == 0.0 && **a != 0.0).count();
    add("padding", &[dirt as f32], &[0.0], 0.0);
    Ok(out)
}

/// Steps of the same inputs twice give the same bits; so does a member alone. The number of elements that differ.
///
/// # Errors
/// The device's.
pub fn fused_repeats(device: &Device, case: &FusedCase) -> Result<usize, CaseError> {
    let (first, second) = (side(device, case, true)?, side(device, case, true)?);
    let alone = side(device, &FusedCase { members: 1, ..case.clone() }, true)?;
    let bits = |s: &Side| -> Result<Vec<u16>, CaseError> { Ok(s.runtime.read_raw::<u16>(s.net.weight)?) };
    let (a, b, c) = (bits(&first)?, bits(&second)?, bits(&alone)?);
    let differ = |x: &[u16], y: &[u16]| x.iter().zip(y).filter(|(x, y)| x != y).count();
    Ok(differ(&a, &b) + if case.members == 1 { differ(&a, &c) } else { 0 })
}
