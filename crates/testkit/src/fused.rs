//! The fused step beside the span of operations that it replaces: same weights, same batch, one step.

use crate::{CaseError, Random};
use foxhunt_core::{Bf16, DType, rng::member_seed};
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

/// How much further from the span in F32 the fused step may be than the span in BF16 is: of its distance, and at least.
const SLACK: f64 = 1.1;
const LEAST: f64 = 0.002;
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
    /// Relative L2 distance of the fused step from the span in F32.
    pub difference: f64,
    /// Largest that is allowed: about the distance of the span in BF16.
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

/// Which of the three ways.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Fused,
    Span,
    /// The span in F32, from the same BF16 numbers.
    Reference,
}

fn rounded(x: f32) -> f32 {
    Bf16::from_f32(x).to_f32()
}

fn side(device: &Device, case: &FusedCase, how: How) -> Result<Side, CaseError> {
    let (shape, batch) = (&case.shape, case.batch);
    let dtype = if how == How::Reference { DType::F32 } else { DType::Bf16 };
    let mut plan = Plan::new(dtype, case.members);
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
    let (row_loss, total) = if how == How::Fused {
        net.learn_fused(&mut plan, x, samples, state)?
    } else {
        net.learn(&mut plan, x, samples, state)?
    };
    let runtime = plan.compile(device, Options { guard_bytes: GUARD_BYTES })?;
    let rows = batch * case.members;
    let mut random = Random::new(71);
    let xs: Vec<f32> = (0..2 * rows * shape.inputs).map(|_| rounded(random.normal() as f32)).collect();
    runtime.write(x, &xs)?;
    // A source of its own each, so that the first member's numbers don't depend on how many there are.
    let mut random = Random::new(72);
    let taken: Vec<u8> = (0..rows)
        .flat_map(|_| shape.head.actions.iter().map(|n| random.below(*n) as u8).collect::<Vec<_>>())
        .collect();
    runtime.write_raw(actions, &taken)?;
    let mut random = Random::new(73);
    let outcomes: Vec<Outcome> = (0..rows)
        .map(|i| Outcome {
            return_q20: (random.normal() * f64::from(1 << 20)) as i32,
            discount_q31: if i % 17 == 3 { 0 } else { (0.99 * f64::from(1_u32 << 31)) as u32 },
            index: i as u32,
            steps: 1,
        })
        .collect();
    runtime.write_raw(outcome, &outcomes)?;
    let adam = AdamSettings { weight_decay: 0.0, ..AdamSettings::DEFAULT };
    let seeds: Vec<u64> = (0..case.members as u64).map(|m| member_seed(5, m)).collect();
    runtime.write_raw(state.1, &seeds.iter().map(|s| Hyper::new(&adam, *s)).collect::<Vec<_>>())?;
    // Twice as wide as a fresh net's, so that distributions differ from one another.
    let image = |salt: u64| -> Vec<f32> {
        seeds.iter().flat_map(|s| net.net.initial_image(s ^ salt)).map(|w| rounded(2.0 * w)).collect()
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

/// Every tensor that is compared, by name: activations of s and their gradients, the loss, the gradient of each parameter,
/// the weights after the step.
fn tensors(case: &FusedCase, side: &Side) -> Result<Vec<(String, Vec<f32>)>, CaseError> {
    let mut out = Vec::new();
    for (layer, width) in (1..=3).zip(case.shape.layers()) {
        let (h, z) = (format!("online.h{layer}"), format!("d.online.z{layer}"));
        let find = |name: &str| side.plan.find(name);
        // The span's activations are of s and then of s'; its second gradient is the one before the activation.
        let gradient = find(&z).or_else(|| find(&format!("d.online.h{layer}.2")));
        for (name, t) in [(h.clone(), find(&h)), (z, gradient)] {
            let t = t.ok_or_else(|| foxhunt_nn::PlanError::Unknown { what: "tensor", name: name.clone() })?;
            let all = side.runtime.read(t)?;
            let member = all.len() / case.members;
            let now = all.chunks(member).flat_map(|m| &m[..case.batch * width]).copied().collect();
            out.push((name, now));
        }
    }
    out.push(("loss of rows".into(), side.runtime.read(side.row_loss)?));
    let totals = side.runtime.read_raw::<LossTotal>(side.total)?;
    let totals = totals
        .iter()
        .flat_map(|t| [(t.loss_q32 as f64 / 4_294_967_296.0) as f32, t.rows as f32, t.bad as f32]);
    out.push(("loss".into(), totals.collect()));
    let image = side.runtime.read(side.net.gradient)?;
    for p in &side.net.params {
        let rows: Vec<usize> = (0..p.spec.parts.len()).flat_map(|i| p.part_elements(i)).collect();
        let member = |image: &[f32]| -> Vec<f32> {
            rows.iter().flat_map(|at| &image[*at..at + p.spec.cols]).copied().collect()
        };
        let all = image.chunks(image.len() / case.members).flat_map(member).collect();
        out.push((format!("d.{}", p.spec.name), all));
    }
    out.push(("weights".into(), logical(side)?));
    Ok(out)
}

/// The weights of all members, without padding.
fn logical(side: &Side) -> Result<Vec<f32>, CaseError> {
    let image = side.runtime.read(side.net.weight)?;
    let members = side.plan.members();
    let mut out = Vec::new();
    for image in image.chunks(image.len() / members) {
        for p in &side.net.params {
            for at in (0..p.spec.parts.len()).flat_map(|i| p.part_elements(i)) {
                out.extend_from_slice(&image[at..at + p.spec.cols]);
            }
        }
    }
    Ok(out)
}

/// Runs a case in the fused kernels, as the span, and as the span in F32, and compares.
///
/// # Errors
/// The device's.
pub fn check_fused(device: &Device, case: &FusedCase) -> Result<Vec<Agreement>, CaseError> {
    let [fused, span, reference] = [How::Fused, How::Span, How::Reference].map(|how| side(device, case, how));
    let (fused, span, reference) = (fused?, span?, reference?);
    let truth = tensors(case, &reference)?;
    let mut out: Vec<Agreement> = (tensors(case, &fused)?.into_iter())
        .zip(tensors(case, &span)?)
        .zip(truth)
        .map(|(((what, fused), (_, span)), (_, truth))| Agreement {
            what,
            difference: distance(&fused, &truth),
            allowed: SLACK * distance(&span, &truth) + LEAST,
        })
        .collect();
    let images = [&fused, &span].map(|s| s.runtime.read(s.net.weight));
    let [a, b] = images;
    let dirt = a?.iter().zip(&b?).filter(|(a, b)| **b == 0.0 && **a != 0.0).count();
    out.push(Agreement { what: "padding".into(), difference: dirt as f64, allowed: 0.0 });
    Ok(out)
}

/// Greedy actions of a batch's states, and Q where the way tells it.
fn acts(
    device: &Device,
    case: &FusedCase,
    how: How,
    most_blocks: usize,
) -> Result<(Vec<u8>, Vec<f32>), CaseError> {
    let shape = &case.shape;
    let dtype = if how == How::Reference { DType::F32 } else { DType::Bf16 };
    let mut plan = Plan::new(dtype, case.members);
    let x = plan.real_buffer("x", case.batch, shape.inputs);
    let config = BranchingQConfig {
        inputs: shape.inputs,
        trunk: shape.trunk,
        stream: shape.stream,
        head: shape.head.clone(),
        trunk_gradient_scale: 1.0,
        mixture: false,
    };
    let net = BranchingQ::new(&mut plan, config);
    let (q, greedy) = if how == How::Fused {
        (None, net.act_fused(&mut plan, "act", x, most_blocks)?)
    } else {
        let (q, greedy) = net.act(&mut plan, "act", x)?;
        (Some(q), greedy)
    };
    let runtime = plan.compile(device, Options { guard_bytes: GUARD_BYTES })?;
    let mut random = Random::new(74);
    let values = case.members * case.batch * shape.inputs;
    runtime.write(x, &(0..values).map(|_| rounded(random.normal() as f32)).collect::<Vec<f32>>())?;
    let image: Vec<f32> = (0..case.members as u64)
        .flat_map(|m| net.net.initial_image(member_seed(5, m)))
        .map(|w| rounded(2.0 * w))
        .collect();
    runtime.write(net.net.weight, &image)?;
    runtime.run("main", 1)?;
    device.synchronize()?;
    runtime.check_guards()?;
    let q = q.map(|q| runtime.read(q)).transpose()?.unwrap_or_default();
    Ok((runtime.read_raw(greedy)?, q))
}

/// Acting in one kernel beside the span: what its actions give away of the largest Q, as F32 has it, of the support's width.
///
/// # Errors
/// The device's.
pub fn check_fused_act(
    device: &Device,
    case: &FusedCase,
    most_blocks: usize,
) -> Result<Agreement, CaseError> {
    let [fused, span, reference] =
        [How::Fused, How::Span, How::Reference].map(|how| acts(device, case, how, most_blocks));
    let (_, q) = reference?;
    let actions = &case.shape.head.actions;
    let all: usize = actions.iter().sum();
    let width = f64::from(case.shape.head.v_max - case.shape.head.v_min);
    // The mean: a largest would be that of one near tie.
    let given_away = |greedy: &[u8]| -> f64 {
        let mut sum = 0.0;
        for (taken, q) in greedy.chunks(actions.len()).zip(q.chunks(all)) {
            let mut first = 0;
            for (a, n) in taken.iter().zip(actions) {
                let q = &q[first..first + n];
                let best = q.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                sum += q.get(usize::from(*a)).map_or(f64::INFINITY, |x| f64::from(best - x)) / width;
                first += n;
            }
        }
        sum / greedy.len().max(1) as f64
    };
    let (fused, span) = (fused?.0, span?.0);
    // How the tiles are shared out is no business of the actions.
    let alone = acts(device, case, How::Fused, usize::MAX)?.0;
    if alone != fused {
        let differing = alone.iter().zip(&fused).filter(|(a, b)| a != b).count();
        let what = format!("actions of {most_blocks} blocks and of one for each tile");
        return Ok(Agreement { what, difference: differing as f64, allowed: 0.0 });
    }
    let (fused, span) = (given_away(&fused), given_away(&span));
    Ok(Agreement { what: "greedy actions".into(), difference: fused, allowed: SLACK * span + LEAST / 100.0 })
}

/// Steps of the same inputs twice give the same bits; so does a member alone. The number of elements that differ.
///
/// # Errors
/// The device's.
pub fn fused_repeats(device: &Device, case: &FusedCase) -> Result<usize, CaseError> {
    let (first, second) = (side(device, case, How::Fused)?, side(device, case, How::Fused)?);
    let alone = side(device, &FusedCase { members: 1, ..case.clone() }, How::Fused)?;
    let bits = |s: &Side| -> Result<Vec<u16>, CaseError> { Ok(s.runtime.read_raw::<u16>(s.net.weight)?) };
    let (a, b, c) = (bits(&first)?, bits(&second)?, bits(&alone)?);
    let differ = |x: &[u16], y: &[u16]| x.iter().zip(y).filter(|(x, y)| x != y).count();
    let member = a.len() / case.members;
    Ok(differ(&a, &b) + differ(&a[..member], &c))
}
