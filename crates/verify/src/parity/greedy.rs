//! From the same head inputs the same greedy actions, but for near ties.
//!
//! A head sums in F32 in an order of its own: tensor cores, vectors or a library's product. So two devices may choose
//! differently where two Q are next to each other, and there alone. How close they are is judged in F64 from the same inputs,
//! since Q itself is stored in BF16.

use super::{Compared, compare::grouped};
use crate::VerifyError;
use foxhunt_core::{
    Bf16, DType,
    rng::{Purpose, draw},
};
use foxhunt_device::Device;
use foxhunt_kernels::{loss::HeadShape, optim::IMAGE_COLUMNS};
use foxhunt_nn::{
    Init, Options, ParamSpec, Plan,
    op::{HeadNets, ValueHeadAct},
};
use foxhunt_train::ACTIONS;

/// Rows of a call, not a multiple of what a team takes.
const ROWS: usize = 3_001;
const MEMBERS: usize = 3;
const HIDDEN: usize = 64;
/// Deviation of a logit: a head that has hardly learned, whose Q are near one another, to one that is sure.
const SPREADS: [f32; 4] = [0.1, 0.5, 1.5, 4.0];

/// How far in Q a chosen action may be below the best.
pub(super) fn bound(dtype: DType) -> f64 {
    match dtype {
        // Tensor cores beside portable sums.
        DType::Bf16 => 1e-3,
        DType::F32 => 1e-4,
    }
}

pub(super) fn compare(device: &Device, reference: &Device, dtype: DType) -> Result<Compared, VerifyError> {
    compare_with(device, reference, dtype, &SPREADS, &|_| {})
}

/// As [`compare`], after `plant` changed the checked device's inputs.
pub(super) fn compare_with(
    device: &Device,
    reference: &Device,
    dtype: DType,
    spreads: &[f32],
    plant: &dyn Fn(&mut Inputs),
) -> Result<Compared, VerifyError> {
    let shape = HeadShape { actions: ACTIONS.into(), atoms: 51, v_min: -10.0, v_max: 10.0 };
    let (mut decisions, mut differing, mut widest) = (0, 0, 0.0_f64);
    let mut found = Vec::new();
    for (k, spread) in spreads.iter().enumerate() {
        let inputs = Inputs::new(&shape, dtype, k as u64, *spread);
        let mut changed = inputs.clone();
        plant(&mut changed);
        let here = act(device, dtype, &shape, &changed)?;
        let there = act(reference, dtype, &shape, &inputs)?;
        decisions += there.len();
        for at in (0..there.len()).filter(|&at| here[at] != there[at]) {
            let (row, branch) = (at / ACTIONS.len(), at % ACTIONS.len());
            let q = inputs.q(&shape, row, branch);
            let best = q.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            let below = |action: u8| q.get(usize::from(action)).map_or(f64::INFINITY, |q| best - q);
            let gap = below(here[at]).max(below(there[at]));
            differing += 1;
            widest = widest.max(gap);
            if gap >= bound(dtype) && found.is_empty() {
                found.push(format!(
                    "logits of deviation {spread}, member {}, row {}, branch {branch}: {} here and {} on the reference, of \
                     which one is {gap:.1e} in Q below the best",
                    row / ROWS,
                    row % ROWS,
                    here[at],
                    there[at]
                ));
            }
        }
    }
    let widest = if differing == 0 { "0".into() } else { format!("{widest:.1e}") };
    let said = format!(
        "{} of {} decisions equal ({:.4} %); largest gap in Q where not {widest}, bound {:.0e}",
        grouped(decisions - differing),
        grouped(decisions),
        100.0 * (decisions - differing) as f64 / decisions as f64,
        bound(dtype)
    );
    Ok(Compared { said, found })
}

/// What a head reads, as it is stored.
#[derive(Clone)]
pub(super) struct Inputs {
    /// Stream activations `[P, rows, streams * H]`.
    pub(super) x: Vec<f32>,
    /// `[P, units * atoms, H]`.
    pub(super) w: Vec<f32>,
    /// `[P, units * atoms]`.
    pub(super) bias: Vec<f32>,
}

impl Inputs {
    /// Activations behind a rectifier, and weights that make of them logits with about this deviation.
    fn new(shape: &HeadShape, dtype: DType, seed: u64, spread: f32) -> Self {
        let logits = MEMBERS * shape.units() * shape.atoms;
        let streams = 1 + shape.actions.len();
        let mut x = noise(dtype, seed, 0, MEMBERS * ROWS * streams * HIDDEN, 1.0);
        x.iter_mut().for_each(|x| *x = x.max(0.0));
        // Half of the activations are 0: the others' mean square is 1.
        let w = noise(dtype, seed, 1, logits * HIDDEN, spread * (2.0 / HIDDEN as f32).sqrt());
        Inputs { x, w, bias: noise(dtype, seed, 2, logits, 0.2 * spread) }
    }

    /// Q of every action of a branch, in F64. `row` counts through the members.
    fn q(&self, shape: &HeadShape, row: usize, branch: usize) -> Vec<f64> {
        let (member, streams) = (row / ROWS, 1 + shape.actions.len());
        let x = &self.x[row * streams * HIDDEN..][..streams * HIDDEN];
        let logit = |stream: usize, unit: usize, atom: usize| {
            let at = (member * shape.units() + unit) * shape.atoms + atom;
            let (w, x) = (&self.w[at * HIDDEN..][..HIDDEN], &x[stream * HIDDEN..][..HIDDEN]);
            f64::from(self.bias[at])
                + w.iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum::<f64>()
        };
        let (first, actions) = shape.stream_units(1 + branch);
        let mut l: Vec<Vec<f64>> = (0..actions)
            .map(|a| (0..shape.atoms).map(|i| logit(1 + branch, first + a, i)).collect())
            .collect();
        for i in 0..shape.atoms {
            let mean = l.iter().map(|l| l[i]).sum::<f64>() / actions as f64;
            let shift = logit(0, 0, i) - mean;
            l.iter_mut().for_each(|l| l[i] += shift);
        }
        let step = f64::from(shape.v_max - shape.v_min) / (shape.atoms - 1) as f64;
        let value = |l: &Vec<f64>| {
            let top = l.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            let e: Vec<f64> = l.iter().map(|l| (l - top).exp()).collect();
            let z: f64 = e.iter().sum();
            e.iter().enumerate().map(|(i, e)| e / z * (f64::from(shape.v_min) + step * i as f64)).sum()
        };
        l.iter().map(value).collect()
    }
}

/// `n` numbers with mean 0 and this deviation, of a triangular distribution, as they are stored.
fn noise(dtype: DType, seed: u64, tensor: u32, n: usize, deviation: f32) -> Vec<f32> {
    let unit = deviation * 6_f32.sqrt() / 65_536.0;
    let words = (0..n.div_ceil(4) as u32).flat_map(|e| draw(seed, 0, tensor, Purpose::Initialise, e));
    words
        .take(n)
        .map(|w| unit * ((w >> 16) as f32 + (w & 0xffff) as f32 - 65_535.0))
        .map(|x| match dtype {
            DType::F32 => x,
            DType::Bf16 => Bf16::from_f32(x).to_f32(),
        })
        .collect()
}

/// Greedy actions `[P, rows, branches]`.
fn act(device: &Device, dtype: DType, shape: &HeadShape, inputs: &Inputs) -> Result<Vec<u8>, VerifyError> {
    let mut plan = Plan::new(dtype, MEMBERS);
    let (none, atoms) = (Init::Constant(0.0), shape.atoms);
    let specs = vec![
        ParamSpec {
            group: atoms,
            group_ld: shape.unit_ld(),
            ..ParamSpec::matrix("w", shape.units() * atoms, HIDDEN, none)
        },
        ParamSpec { ld: Some(shape.unit_ld()), ..ParamSpec::matrix("b", shape.units(), atoms, none) },
    ];
    let net = plan.net("q", specs);
    let x = plan.real_buffer("x", ROWS, (1 + shape.actions.len()) * HIDDEN);
    let (w, bias) = (net.params[0].clone(), net.params[1].clone());
    let head = HeadNets { shape: shape.clone(), w: w.clone(), bias: bias.clone() };
    let (_, greedy) = ValueHeadAct::push(&mut plan, &head, "act", x)?;
    let runtime = plan.compile(device, Options::default())?;
    let member = net.tiles * IMAGE_COLUMNS;
    let mut image = vec![0.0; MEMBERS * member];
    for (param, values) in [(&w, &inputs.w), (&bias, &inputs.bias)] {
        let rows: Vec<usize> = param.part_elements(0).collect();
        for (k, row) in values.chunks(param.spec.cols).enumerate() {
            let at = k / rows.len() * member + rows[k % rows.len()];
            image[at..at + row.len()].copy_from_slice(row);
        }
    }
    runtime.write(net.weight, &image)?;
    runtime.write(x, &inputs.x)?;
    runtime.run("main", 1)?;
    Ok(runtime.read_raw(greedy)?)
}
