//! Sums of thousands and millions of numbers, which a BF16 accumulator stops adding to after a few hundred.

use super::{
    Measured, differing, mean,
    rig::{Rig, plain},
};
use crate::{CaseError, Matrix, Random};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_kernels::{
    Element,
    loss::{HeadShape, LossTotal, Outcome},
    optim::IMAGE_COLUMNS,
};
use foxhunt_nn::{
    Init, Options, ParamSpec, Plan, PlanError,
    op::{HeadNets, HeadSamples, Linear, ValueHeadLoss},
};

const ONE_Q32: f64 = 4_294_967_296.0;

/// A million elements; a sequential sum in BF16 gives 0.007 of it, BF16 atomics half.
pub(super) fn gradient_norm(device: &Device) -> Result<Vec<Measured>, CaseError> {
    let rig = Rig::new(device, 489, &[plain(0.0)])?;
    let mut random = Random::new(11);
    let g: Vec<f32> = (0..rig.lanes).map(|_| (1e-2 * random.normal()) as f32).collect();
    rig.runtime.write(rig.net.gradient, &g)?;
    let want: f64 = rig.lanes(rig.net.gradient)?[0].iter().map(|x| x * x).sum();
    let mut partials = Vec::new();
    for _ in 0..2 {
        rig.run(1)?;
        partials.push(rig.runtime.read_raw::<u64>(rig.norm)?);
    }
    let got = partials[0].iter().sum::<u64>() as f64 / ONE_Q32;
    Ok(vec![
        Measured::near("squared norm of 1,001,472 elements, relative to F64", got / want, 1.0, 1e-5),
        Measured::none("partial sums that differ between two runs", differing(&partials[0], &partials[1])),
    ])
}

/// A batch of 4096 rows whose windows all end, so that the target is the return alone; a sequential mean in BF16 is
/// off by half.
pub(super) fn loss_total(device: &Device) -> Result<Vec<Measured>, CaseError> {
    const BATCH: usize = 4096;
    const HIDDEN: usize = 32;
    const ACTIONS: usize = 3;
    let shape = HeadShape { actions: vec![ACTIONS], atoms: 51, v_min: -10.0, v_max: 10.0 };
    let (units, atoms) = (shape.units(), shape.atoms);
    let mut plan = Plan::new(DType::Bf16, 1);
    let init = Init::Uniform { fan_in: 2 };
    let w = ParamSpec {
        group: atoms,
        group_ld: shape.unit_ld(),
        ..ParamSpec::matrix("w", units * atoms, HIDDEN, init)
    };
    let b = ParamSpec { ld: Some(shape.unit_ld()), ..ParamSpec::matrix("b", units, atoms, init) };
    let net = plan.net("q", vec![w, b]);
    let x = plan.real_buffer("x", 2 * BATCH, 2 * HIDDEN);
    let later = plan.real_buffer("later", BATCH, 2 * HIDDEN);
    let actions = plan.buffer("actions", Element::U8, BATCH, 1);
    let outcome = plan.buffer("outcome", Element::Struct(size_of::<Outcome>() as u32), BATCH, 1);
    let head = HeadNets { shape: shape.clone(), w: net.params[0].clone(), bias: net.params[1].clone() };
    let samples = HeadSamples { actions, outcome };
    let (_, total) = ValueHeadLoss::push(&mut plan, &head, (x, later), samples, false)?;
    let runtime = plan.compile(device, Options::default())?;

    let mut random = Random::new(5);
    let states: Vec<f32> = (0..2 * BATCH * 2 * HIDDEN).map(|_| random.normal() as f32).collect();
    runtime.write(x, &states)?;
    runtime.write(net.weight, &net.initial_image(3))?;
    let taken: Vec<u8> = (0..BATCH).map(|_| random.below(ACTIONS) as u8).collect();
    runtime.write_raw(actions, &taken)?;
    let returns: Vec<i32> = (0..BATCH).map(|_| (3.0 * random.normal() * f64::from(1 << 20)) as i32).collect();
    let outcomes: Vec<Outcome> =
        returns.iter().map(|r| Outcome { return_q20: *r, ..Default::default() }).collect();
    runtime.write_raw(outcome, &outcomes)?;
    runtime.run("main", 1)?;
    device.synchronize()?;
    let got = runtime.read_raw::<LossTotal>(total)?[0];

    let states = Matrix::from_f32(2 * BATCH, 2 * HIDDEN, &runtime.read(x)?);
    let image = runtime.read(net.weight)?;
    let (w, b) = (&net.params[0], &net.params[1]);
    let starts: Vec<usize> = w.part_elements(0).collect();
    let biases: Vec<usize> = b.part_elements(0).collect();
    let row_loss = |row: usize| -> f64 {
        // Logits of V and of each action, then of the action taken.
        let logit = |unit: usize, i: usize| -> f64 {
            let stream = usize::from(unit > 0);
            let (x, w) = (&states.row(row)[stream * HIDDEN..], &image[starts[unit * atoms + i]..]);
            let product: f64 = x.iter().zip(w).take(HIDDEN).map(|(x, w)| x * f64::from(*w)).sum();
            product + f64::from(image[biases[unit] + i])
        };
        let l: Vec<f64> = (0..atoms)
            .map(|i| {
                let a: Vec<f64> = (1..units).map(|u| logit(u, i)).collect();
                logit(0, i) + a[usize::from(taken[row])] - mean(&a)
            })
            .collect();
        let top = l.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let log_z = top + l.iter().map(|l| (l - top).exp()).sum::<f64>().ln();
        let at = (f64::from(returns[row]) / f64::from(1 << 20) + 10.0) / 0.4;
        let at = at.clamp(0.0, (atoms - 1) as f64);
        let (low, part) = (at.floor() as usize, at.fract());
        (1.0 - part) * (log_z - l[low]) + part * (log_z - l[(low + 1).min(atoms - 1)])
    };
    let want: f64 = (0..BATCH).map(row_loss).sum();
    Ok(vec![
        Measured::near("loss of 4096 rows, relative to F64", got.loss_q32 as f64 / ONE_Q32 / want, 1.0, 1e-4),
        Measured::near("rows counted", got.rows as f64, BATCH as f64, 0.0),
    ])
}

/// Products with an inner dimension of 4096, forward and of a weight's gradient: rounded once, so 0.17 % rms; partial
/// sums in BF16 over sixteen splits give 0.52 %.
pub(super) fn product(device: &Device) -> Result<Vec<Measured>, CaseError> {
    Ok(vec![
        relative_error(device, "y = x w^T, K = 4096", (96, 4096, 96))?.0,
        relative_error(device, "dw = dy^T x, K = 4096", (4096, 64, 96))?.1,
    ])
}

fn relative_error(
    device: &Device,
    what: &str,
    (rows, inputs, outputs): (usize, usize, usize),
) -> Result<(Measured, Measured), CaseError> {
    let mut plan = Plan::new(DType::Bf16, 1);
    let net =
        plan.net("net", vec![ParamSpec::matrix("w", outputs, inputs, Init::Uniform { fan_in: inputs })]);
    let w = net.params[0].weight;
    let x = plan.real_buffer("x", rows, inputs);
    let dy = plan.real_buffer("dy", rows, outputs);
    let y = Linear::push(&mut plan, "y", x, w)?;
    plan.backward(&[(y, dy)])?;
    let runtime = plan.compile(device, Options::default())?;
    let mut random = Random::new(17);
    let mut normals = |n: usize| -> Vec<f32> { (0..n).map(|_| random.normal() as f32).collect() };
    runtime.write(x, &normals(rows * inputs))?;
    runtime.write(dy, &normals(rows * outputs))?;
    runtime.write(net.weight, &net.initial_image(1))?;
    runtime.run("main", 1)?;
    device.synchronize()?;
    let matrix = |t, rows: usize, cols: usize| -> Result<Matrix, PlanError> {
        Ok(Matrix::from_f32(rows, cols, &runtime.read(t)?))
    };
    let (x, w, dy) = (matrix(x, rows, inputs)?, matrix(w, outputs, inputs)?, matrix(dy, rows, outputs)?);
    let image = runtime.read(net.gradient)?;
    debug_assert_eq!(image.len(), net.tiles * IMAGE_COLUMNS);
    let at = &net.params[0];
    let dw = Matrix::from_fn(outputs, inputs, |r, c| f64::from(image[at.offset + r * at.ld + c]));
    let transposed = |m: &Matrix| Matrix::from_fn(m.cols, m.rows, |r, c| m.at(c, r));
    let error = |got: &Matrix, want: &Matrix| {
        let off = Matrix::from_fn(want.rows, want.cols, |r, c| got.at(r, c) - want.at(r, c));
        // Below 0.1 % something was not rounded to BF16 at all.
        Measured::within(format!("{what}: rms error relative to F64"), off.rms() / want.rms(), 0.001, 0.0025)
    };
    let forward = error(&matrix(y, rows, outputs)?, &x.times_transposed(&w));
    Ok((forward, error(&dw, &transposed(&dy).times_transposed(&transposed(&x)))))
}
