//! The value head: loss, gradients and greedy actions against a plain F64 C51.

use crate::{Case, CaseError, Matrix, Output, Random, Setting, layer::close};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_kernels::{
    Element,
    loss::{HeadShape, LossTotal, Outcome},
    optim::IMAGE_COLUMNS,
};
use foxhunt_nn::{
    Init, Options, ParamSpec, Plan, Tensor,
    op::{HeadNets, HeadSamples, ValueHeadAct, ValueHeadLoss},
};

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    vec![
        Box::new(ValueHead { name: "value_head", portable: false }),
        Box::new(ValueHead { name: "value_head.portable", portable: true }),
    ]
}

struct ValueHead {
    name: &'static str,
    portable: bool,
}

/// F64 double-DQN C51 of one member.
struct Reference<'a> {
    shape: &'a HeadShape,
    hidden: usize,
    mixture: bool,
}

impl Reference<'_> {
    fn z(&self, i: usize) -> f64 {
        let (lo, hi) = (f64::from(self.shape.v_min), f64::from(self.shape.v_max));
        lo + (hi - lo) * i as f64 / (self.shape.atoms - 1) as f64
    }

    /// `l[branch][action][atom]` of one row of activations.
    fn logits(&self, x: &[f64], w: &Matrix, b: &Matrix) -> Vec<Vec<Vec<f64>>> {
        let (n, h) = (self.shape.atoms, self.hidden);
        let unit = |stream: usize, unit: usize| -> Vec<f64> {
            (0..n)
                .map(|i| {
                    let row = w.row(unit * n + i);
                    b.at(unit, i) + (0..h).map(|k| x[stream * h + k] * row[k]).sum::<f64>()
                })
                .collect()
        };
        let v = unit(0, 0);
        (0..self.shape.actions.len())
            .map(|d| {
                let (first, count) = self.shape.stream_units(1 + d);
                let a: Vec<Vec<f64>> = (0..count).map(|k| unit(1 + d, first + k)).collect();
                let mean: Vec<f64> =
                    (0..n).map(|i| a.iter().map(|a| a[i]).sum::<f64>() / count as f64).collect();
                a.iter().map(|a| (0..n).map(|i| v[i] + a[i] - mean[i]).collect()).collect()
            })
            .collect()
    }

    fn q(&self, l: &[f64]) -> f64 {
        softmax(l).iter().enumerate().map(|(i, p)| p * self.z(i)).sum()
    }

    fn greedy(&self, l: &[Vec<f64>]) -> usize {
        let q: Vec<f64> = l.iter().map(|l| self.q(l)).collect();
        (0..q.len()).fold(0, |best, k| if q[k] > q[best] { k } else { best })
    }

    fn project(&self, p: &[f64], o: Outcome) -> Vec<f64> {
        let r = f64::from(o.return_q20) / f64::from(1 << 20);
        let g = f64::from(o.discount_q31) / (1_u64 << 31) as f64;
        let dz = self.z(1) - self.z(0);
        let last = (self.shape.atoms - 1) as f64;
        let mut m = vec![0.0; p.len()];
        for (j, pj) in p.iter().enumerate() {
            let b = ((r + g * self.z(j) - self.z(0)) / dz).clamp(0.0, last);
            let l = b.floor() as usize;
            let u = (l + 1).min(m.len() - 1);
            m[l] += pj * (1.0 - (b - l as f64));
            m[u] += pj * (b - l as f64);
        }
        m
    }

    /// Whether the target return of one branch lies beyond the support: of whichever action F32 may take for the best;
    /// nothing where that is too close to call.
    fn beyond(&self, next: &[Vec<f64>], later: &[Vec<f64>], o: Outcome) -> Option<bool> {
        let q: Vec<f64> = next.iter().map(|l| self.q(l)).collect();
        let best = q.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let (low, high) = (f64::from(self.shape.v_min), f64::from(self.shape.v_max));
        let mut found = None;
        for (_, l) in q.iter().zip(later).filter(|(q, _)| **q >= best - 1e-4) {
            let r = f64::from(o.return_q20) / f64::from(1 << 20);
            let mean = r + f64::from(o.discount_q31) / (1_u64 << 31) as f64 * self.q(l);
            let outside = (low - mean).max(mean - high);
            let beyond = outside > 0.0;
            if outside.abs() < 1e-4 || found.is_some_and(|f| f != beyond) {
                return None;
            }
            found = Some(beyond);
        }
        found
    }

    /// Targets of one row, `[branch][atom]`.
    fn targets(&self, next: &[Vec<Vec<f64>>], later: &[Vec<Vec<f64>>], o: Outcome) -> Vec<Vec<f64>> {
        let mut m: Vec<Vec<f64>> = next
            .iter()
            .zip(later)
            .map(|(next, later)| self.project(&softmax(&later[self.greedy(next)]), o))
            .collect();
        if self.mixture {
            let d = m.len() as f64;
            let mean: Vec<f64> = (0..m[0].len()).map(|i| m.iter().map(|m| m[i]).sum::<f64>() / d).collect();
            m.iter_mut().for_each(|m| m.clone_from(&mean));
        }
        m
    }

    fn row_loss(&self, now: &[Vec<Vec<f64>>], actions: &[u8], m: &[Vec<f64>]) -> f64 {
        let terms = now.iter().zip(actions).zip(m).map(|((l, a), m)| {
            let l = &l[usize::from(*a)];
            let top = l.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            let log_z = l.iter().map(|x| (x - top).exp()).sum::<f64>().ln();
            -l.iter().zip(m).map(|(x, m)| m * (x - top - log_z)).sum::<f64>()
        });
        terms.sum::<f64>() / now.len() as f64
    }
}

fn softmax(l: &[f64]) -> Vec<f64> {
    let top = l.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let e: Vec<f64> = l.iter().map(|x| (x - top).exp()).collect();
    let z: f64 = e.iter().sum();
    e.iter().map(|e| e / z).collect()
}

struct Inputs {
    x: Vec<Matrix>,
    later: Vec<Matrix>,
    w: [Vec<Matrix>; 2],
    b: [Vec<Matrix>; 2],
    actions: Vec<u8>,
    outcome: Vec<Outcome>,
}

impl Case for ValueHead {
    fn name(&self) -> &'static str {
        self.name
    }

    /// Batch, hidden, atoms, whether targets are mixed.
    fn sizes(&self) -> Vec<Vec<usize>> {
        [[1, 32, 51, 1], [19, 64, 51, 0], [33, 32, 21, 1], [16, 128, 2, 0]].map(Vec::from).into()
    }

    fn exact(&self) -> bool {
        false
    }

    fn run(&self, device: &Device, s: &Setting, check: bool) -> Result<Vec<Output>, CaseError> {
        let (batch, hidden, mixture) = (s.size[0], s.size[1], s.size[3] == 1);
        let shape = HeadShape { actions: vec![9, 3, 3], atoms: s.size[2], v_min: -10.0, v_max: 10.0 };
        let streams = 1 + shape.actions.len();
        let mut plan = Plan::new(s.dtype, s.members);
        let w_rows = shape.units() * shape.atoms;
        let none = Init::Constant(0.0);
        let net = plan.net(
            "q",
            vec![
                ParamSpec {
                    group: shape.atoms,
                    group_ld: shape.unit_ld(),
                    ..ParamSpec::matrix("w", w_rows, hidden, none)
                },
                ParamSpec {
                    ld: Some(shape.unit_ld()),
                    ..ParamSpec::matrix("b", shape.units(), shape.atoms, none)
                },
            ],
        );
        let inputs = plan.net("in", vec![ParamSpec::matrix("x", 2 * batch, streams * hidden, none)]);
        let x = inputs.params[0].weight;
        let later = plan.real_buffer("later", batch, streams * hidden);
        let actions = plan.buffer("actions", Element::U8, batch, shape.actions.len());
        let outcome = plan.buffer("outcome", Element::of::<Outcome>(), batch, 1);
        let head = HeadNets { shape: shape.clone(), w: net.params[0].clone(), bias: net.params[1].clone() };
        let samples = HeadSamples { actions, outcome };
        let (row_loss, total) =
            ValueHeadLoss::push_with(&mut plan, &head, (x, later), samples, mixture, self.portable)?;
        plan.backward(&[])?;
        plan.program("act");
        let (q, greedy) = ValueHeadAct::push(&mut plan, &head, "act", x)?;
        let (gaps, _) = ValueHeadAct::push_with(&mut plan, &head, "gaps", x, true)?;
        let runtime = plan.compile(device, Options { guard_bytes: 64 })?;

        let mut random = Random::new(s.seed);
        let mut normals =
            |n: usize, scale: f64| -> Vec<f32> { (0..n).map(|_| (scale * random.normal()) as f32).collect() };
        let (p, wide) = (s.members, streams * hidden);
        runtime.write(x, &normals(p * 2 * batch * wide, 1.0))?;
        runtime.write(later, &normals(p * batch * wide, 1.0))?;
        let scale = 1.5 / (hidden as f64).sqrt();
        let (w, b) = (&net.params[0], &net.params[1]);
        for images in [net.weight, net.target] {
            let mut image = vec![0.0; p * net.tiles * IMAGE_COLUMNS];
            for member in 0..p {
                for (param, scale) in [(w, scale), (b, 0.3)] {
                    for at in param.part_elements(0) {
                        let at = member * net.tiles * IMAGE_COLUMNS + at;
                        image[at..at + param.spec.cols].copy_from_slice(&normals(param.spec.cols, scale));
                    }
                }
            }
            runtime.write(images, &image)?;
        }
        let mut random = Random::new(s.seed ^ 0xac7);
        let chosen: Vec<u8> = (0..p * batch).flat_map(|_| [9, 3, 3].map(|n| random.below(n) as u8)).collect();
        runtime.write_raw(actions, &chosen)?;
        let outcomes: Vec<Outcome> = (0..p * batch)
            .map(|i| Outcome {
                // Rows far beyond both ends of the support, rows near an end, rows on the grid, terminated rows.
                return_q20: match i % 5 {
                    0 => 40 << 20,
                    1 => -(40 << 20),
                    2 => 0,
                    3 => ((10.0 + random.normal()) * f64::from(1 << 20)) as i32,
                    _ => (random.normal() * 2.0 * f64::from(1 << 20)) as i32,
                },
                discount_q31: match i % 3 {
                    0 => 0,
                    1 => 1 << 31,
                    _ => (0.99_f64.powi(3) * (1_u64 << 31) as f64) as u32,
                },
                ..Default::default()
            })
            .collect();
        runtime.write_raw(outcome, &outcomes)?;

        runtime.run("main", 1)?;
        runtime.run("act", 1)?;
        device.synchronize()?;
        runtime.check_guards()?;
        let d =
            plan.find("d.logits").ok_or_else(|| CaseError::Differs("no gradient of the logits".into()))?;
        let out = |name: &str, t: Tensor| -> Result<Output, CaseError> {
            let real = matches!(plan.info(t).element, Element::Real(_));
            let values = if real { runtime.read(t)? } else { Vec::new() };
            Ok(Output { name: name.into(), bytes: runtime.read_bytes(t)?, values })
        };
        let counted: Vec<u64> = runtime.read_raw::<LossTotal>(total)?.iter().map(|t| t.edge).collect();
        let outputs = vec![
            out("d.logits", d)?,
            out("row loss", row_loss)?,
            out("q", q)?,
            out("gaps", gaps)?,
            out("gradient", net.gradient)?,
            out("d.x", inputs.gradient)?,
            Output {
                name: "returns beyond the support".into(),
                bytes: bytemuck::cast_slice(&counted).to_vec(),
                values: Vec::new(),
            },
        ];
        if check {
            let logical = |t: Tensor, param: &foxhunt_nn::NetParam| -> Result<Vec<Matrix>, CaseError> {
                let image = runtime.read(t)?;
                let cols = param.spec.cols;
                Ok((0..p)
                    .map(|m| {
                        let rows: Vec<f32> = param
                            .part_elements(0)
                            .flat_map(|at| {
                                let at = m * net.tiles * IMAGE_COLUMNS + at;
                                image[at..at + cols].to_vec()
                            })
                            .collect();
                        Matrix::from_f32(rows.len() / cols, cols, &rows)
                    })
                    .collect())
            };
            let rows = |t: Tensor, n: usize| -> Result<Vec<Matrix>, CaseError> {
                Ok(runtime.read(t)?.chunks(n * wide).map(|m| Matrix::from_f32(n, wide, m)).collect())
            };
            let data = Inputs {
                x: rows(x, 2 * batch)?,
                later: rows(later, batch)?,
                w: [logical(net.weight, w)?, logical(net.target, w)?],
                b: [logical(net.weight, b)?, logical(net.target, b)?],
                actions: chosen,
                outcome: outcomes,
            };
            let dw = logical(net.gradient, w)?;
            let db = logical(net.gradient, b)?;
            let dx: Vec<Matrix> = {
                let image = runtime.read(inputs.gradient)?;
                let ld = inputs.params[0].ld;
                (0..p)
                    .map(|m| {
                        let at = m * inputs.tiles * IMAGE_COLUMNS;
                        Matrix::from_fn(batch, wide, |r, c| f64::from(image[at + r * ld + c]))
                    })
                    .collect()
            };
            let reference = Reference { shape: &shape, hidden, mixture };
            let losses = runtime.read(row_loss)?;
            let qs = runtime.read(q)?;
            let greedy = runtime.read_raw::<u8>(greedy)?;
            let gaps = runtime.read(gaps)?;
            for m in 0..p {
                let of_member = &gaps[m * gaps.len() / p..(m + 1) * gaps.len() / p];
                check_gaps(&reference, s.dtype, (&data, m), of_member)?;
                check_member(&reference, s, m, &data, (&dw[m], &db[m], &dx[m]), &losses, &qs, &greedy)?;
            }
            let totals = runtime.read_raw::<LossTotal>(total)?;
            for (m, t) in totals.iter().enumerate() {
                let want: f64 = losses[m * batch..(m + 1) * batch].iter().map(|x| f64::from(*x)).sum();
                let got = t.loss_q32 as f64 / 4_294_967_296.0;
                let (sure, open) = edge(&reference, &data, m);
                if !(sure..=sure + open).contains(&t.edge) {
                    return Err(CaseError::Differs(format!(
                        "{} of {batch} target returns beyond the support, not {sure} and up to {open} more",
                        t.edge
                    )));
                }
                if t.rows != batch as u64 || t.bad != 0 || (got - want).abs() > 4e-3 * want.abs() {
                    return Err(CaseError::Differs(format!("loss total {t:?} of rows that sum to {want}")));
                }
            }
        }
        Ok(outputs)
    }
}

/// Q less the largest of its branch: near as exact as its own size allows, so that a softmax at the least temperature in use,
/// 0.05, is that of Q in F32. Q itself, rounded to BF16, would be off by 0.03 near ±10.
fn check_gaps(
    reference: &Reference<'_>,
    dtype: DType,
    (data, m): (&Inputs, usize),
    gaps: &[f32],
) -> Result<(), CaseError> {
    let rounding = match dtype {
        DType::F32 => 0.0,
        DType::Bf16 => 1.0 / 256.0,
    };
    let mut got = gaps.iter();
    for r in 0..data.x[m].rows {
        let l = reference.logits(data.x[m].row(r), &data.w[0][m], &data.b[0][m]);
        for (d, branch) in l.iter().enumerate() {
            let q: Vec<f64> = branch.iter().map(|l| reference.q(l)).collect();
            let best = q.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let row: Vec<f32> = got.by_ref().take(q.len()).copied().collect();
            let off =
                |(got, q): (&f32, &f64)| (f64::from(*got) - (q - best)).abs() > 2e-4 + rounding * (best - q);
            if row.iter().zip(&q).any(off) || row.iter().copied().fold(f32::NEG_INFINITY, f32::max) != 0.0 {
                return Err(CaseError::Differs(format!("row {r} branch {d}: gaps {row:?} of Q {q:?}")));
            }
        }
    }
    Ok(())
}

/// Rows of a member whose target return lies beyond the support for some branch, and rows that are too close to call.
fn edge(reference: &Reference<'_>, data: &Inputs, m: usize) -> (u64, u64) {
    let batch = data.later[m].rows;
    let (mut sure, mut open) = (0, 0);
    for r in 0..batch {
        let next = reference.logits(data.x[m].row(batch + r), &data.w[0][m], &data.b[0][m]);
        let later = reference.logits(data.later[m].row(r), &data.w[1][m], &data.b[1][m]);
        let o = data.outcome[m * batch + r];
        let branches: Vec<Option<bool>> =
            next.iter().zip(&later).map(|(next, later)| reference.beyond(next, later, o)).collect();
        if branches.contains(&Some(true)) {
            sure += 1;
        } else if branches.contains(&None) {
            open += 1;
        }
    }
    (sure, open)
}

#[allow(clippy::too_many_arguments, reason = "one call site; a struct would only rename the arguments")]
fn check_member(
    reference: &Reference<'_>,
    s: &Setting,
    m: usize,
    data: &Inputs,
    (dw, db, dx): (&Matrix, &Matrix, &Matrix),
    losses: &[f32],
    qs: &[f32],
    greedy: &[u8],
) -> Result<(), CaseError> {
    let batch = data.later[m].rows;
    let tolerance = match s.dtype {
        DType::F32 => 2e-5,
        DType::Bf16 => 1e-2,
    };
    let actions = &data.actions[m * batch * 3..(m + 1) * batch * 3];
    let targets: Vec<Vec<Vec<f64>>> = (0..batch)
        .map(|r| {
            let next = reference.logits(data.x[m].row(batch + r), &data.w[0][m], &data.b[0][m]);
            let later = reference.logits(data.later[m].row(r), &data.w[1][m], &data.b[1][m]);
            reference.targets(&next, &later, data.outcome[m * batch + r])
        })
        .collect();
    let row_losses = |x: &Matrix, w: &Matrix, b: &Matrix| -> Vec<f64> {
        (0..batch)
            .map(|r| {
                reference.row_loss(&reference.logits(x.row(r), w, b), &actions[3 * r..3 * r + 3], &targets[r])
            })
            .collect()
    };
    let want = row_losses(&data.x[m], &data.w[0][m], &data.b[0][m]);
    let want = Matrix { rows: 1, cols: batch, data: want };
    close("row loss", &Matrix::from_f32(1, batch, &losses[m * batch..(m + 1) * batch]), &want, tolerance)?;

    // Q and greedy actions of all rows.
    let rows = 2 * batch;
    let units = reference.shape.units() - 1;
    let mut want_q = Matrix::from_fn(rows, units, |_, _| 0.0);
    for r in 0..rows {
        let l = reference.logits(data.x[m].row(r), &data.w[0][m], &data.b[0][m]);
        let mut at = 0;
        for (d, branch) in l.iter().enumerate() {
            let q: Vec<f64> = branch.iter().map(|l| reference.q(l)).collect();
            let got = usize::from(greedy[(m * rows + r) * 3 + d]);
            let best = q.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            if got >= q.len() || q[got] < best - 1e-4 {
                return Err(CaseError::Differs(format!("row {r} branch {d}: action {got} of Q {q:?}")));
            }
            for q in q {
                want_q.data[r * units + at] = q;
                at += 1;
            }
        }
    }
    let got_q = Matrix::from_f32(rows, units, &qs[m * rows * units..(m + 1) * rows * units]);
    close("q", &got_q, &want_q, tolerance)?;

    let mean = |x: &Matrix, w: &Matrix, b: &Matrix| row_losses(x, w, b).iter().sum::<f64>() / batch as f64;
    let mut random = Random::new(s.seed ^ 0xd1f);
    for (name, which, g) in [("x", 0, dx), ("w", 1, dw), ("b", 2, db)] {
        for _ in 0..3 {
            let mut inputs = [data.x[m].clone(), data.w[0][m].clone(), data.b[0][m].clone()];
            // Rows of s' are constant: the direction covers the rows that have a gradient.
            let direction = Matrix::from_fn(g.rows, g.cols, |_, _| 0.0).map(|_| 0.0);
            let direction =
                Matrix { data: direction.data.iter().map(|_| random.normal()).collect(), ..direction };
            let h = 1e-5;
            let mut at = |sign: f64| {
                for (x, d) in inputs[which].data.iter_mut().zip(&direction.data) {
                    *x += sign * h * d;
                }
                mean(&inputs[0], &inputs[1], &inputs[2])
            };
            let up = at(1.0);
            let down = at(-2.0);
            let want = (up - down) / (2.0 * h);
            let got = g.dot(&direction);
            let scale = want.abs().max(g.rms() * direction.rms() * (g.data.len() as f64).sqrt());
            if !((got - want).abs() <= 3.0 * tolerance * scale.max(1e-9)) {
                return Err(CaseError::Differs(format!(
                    "gradient of {name} (member {m}): {got:.6e}, finite difference {want:.6e}"
                )));
            }
        }
    }
    Ok(())
}
