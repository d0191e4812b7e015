//! A differentiable layer or graph as a case: its forward reference in F64 is all that it needs to say.

use crate::{Case, CaseError, Matrix, Output, Random, Setting};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_kernels::optim::IMAGE_COLUMNS;
use foxhunt_nn::{Init, Net, Options, ParamSpec, Plan, PlanError, Runtime, Tensor};

/// An input of a layer, weights included.
pub(crate) struct Input {
    pub(crate) name: &'static str,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Values are `offset + scale * normal`.
    pub(crate) scale: f64,
    pub(crate) offset: f64,
}

impl Input {
    pub(crate) fn new(name: &'static str, rows: usize, cols: usize) -> Self {
        Input { name, rows, cols, scale: 1.0, offset: 0.0 }
    }

    pub(crate) fn scaled(self, scale: f64) -> Self {
        Input { scale, ..self }
    }

    pub(crate) fn around(self, offset: f64) -> Self {
        Input { offset, ..self }
    }
}

type Build = fn(&mut Plan, &[usize], &[Tensor]) -> Result<Tensor, PlanError>;

/// A layer: inputs, how it is built, and its forward pass in F64.
pub(crate) struct LayerCase {
    pub(crate) name: &'static str,
    pub(crate) sizes: &'static [&'static [usize]],
    pub(crate) exact: bool,
    pub(crate) inputs: fn(&[usize]) -> Vec<Input>,
    pub(crate) build: Build,
    pub(crate) reference: fn(&[usize], &[Matrix]) -> Matrix,
    /// Least distance of a value from a kink of the function (ReLU's 0) that a finite difference may straddle.
    pub(crate) kinks: bool,
    /// Relative error allowed in F32 and BF16, of a result's root mean square.
    pub(crate) tolerance: [f64; 2],
}

struct Built {
    runtime: Runtime,
    net: Net,
    y: Tensor,
    inputs: Vec<Matrix>,
    seeds: Vec<Matrix>,
}

impl LayerCase {
    fn tolerance(&self, dtype: DType) -> f64 {
        match dtype {
            DType::F32 => self.tolerance[0],
            DType::Bf16 => self.tolerance[1],
        }
    }

    fn build(&self, device: &Device, s: &Setting) -> Result<Built, PlanError> {
        let mut plan = Plan::new(s.dtype, s.members);
        let specs = (self.inputs)(&s.size);
        // Every input is a parameter, so that the gradient image has the gradient of each.
        let net = plan.net(
            "in",
            specs.iter().map(|i| ParamSpec::matrix(i.name, i.rows, i.cols, Init::Constant(0.0))).collect(),
        );
        let tensors: Vec<Tensor> = net.params.iter().map(|p| p.weight).collect();
        let y = (self.build)(&mut plan, &s.size, &tensors)?;
        let (rows, cols) = (plan.info(y).rows, plan.info(y).cols);
        let dy = plan.real_buffer("seed", rows, cols);
        plan.backward(&[(y, dy)])?;
        let runtime = plan.compile(device, Options { guard_bytes: 64 })?;

        let mut random = Random::new(s.seed);
        let fill = |random: &mut Random, n: usize, scale: f64, offset: f64| -> Vec<f32> {
            (0..n)
                .map(|_| if s.wild { random.wild() } else { (offset + scale * random.normal()) as f32 })
                .collect()
        };
        for t in plan.tensors() {
            // NaN everywhere, padding of inputs too: what is not written shows, and what must not be read.
            if t != net.ids {
                runtime.fill(t, 0xff)?;
            }
        }
        for (input, t) in specs.iter().zip(&tensors) {
            let values = fill(&mut random, s.members * input.rows * input.cols, input.scale, input.offset);
            runtime.write(*t, &values)?;
        }
        runtime.write(dy, &fill(&mut random, s.members * rows * cols, 1.0, 0.0))?;
        let matrices = |t: Tensor, rows: usize, cols: usize| -> Result<Vec<Matrix>, PlanError> {
            Ok(runtime.read(t)?.chunks(rows * cols).map(|m| Matrix::from_f32(rows, cols, m)).collect())
        };
        let seeds = matrices(dy, rows, cols)?;
        let mut inputs = Vec::new();
        for (input, t) in specs.iter().zip(&tensors) {
            inputs.extend(matrices(*t, input.rows, input.cols)?);
        }
        Ok(Built { runtime, net, y, inputs, seeds })
    }

    /// Holds one member's result and gradients against the reference.
    fn check(&self, s: &Setting, b: &Built, y: &[f32], gradient: &[f32]) -> Result<(), CaseError> {
        let tolerance = self.tolerance(s.dtype);
        let image = b.net.tiles * IMAGE_COLUMNS;
        let mut random = Random::new(s.seed ^ 0x5eed);
        for member in 0..s.members {
            let inputs: Vec<Matrix> = b.inputs.iter().skip(member).step_by(s.members).cloned().collect();
            let want = (self.reference)(&s.size, &inputs);
            let n = want.data.len();
            let got = Matrix::from_f32(want.rows, want.cols, &y[member * n..(member + 1) * n]);
            close("y", &got, &want, tolerance)?;

            let seed = &b.seeds[member];
            let loss = |x: &[Matrix]| (self.reference)(&s.size, x).dot(seed);
            for (i, p) in b.net.params.iter().enumerate() {
                let (rows, cols) = (inputs[i].rows, inputs[i].cols);
                let g = Matrix::from_fn(rows, cols, |r, c| {
                    f64::from(gradient[member * image + p.offset + r * p.ld + c])
                });
                // A few elements alone, and directions that involve all.
                let norm = (g.rms() * (g.data.len() as f64).sqrt()).max(1e-3);
                for probe in 0..10 {
                    let mut d = Matrix::from_fn(rows, cols, |_, _| 0.0);
                    if probe < 6 {
                        let at = random.below(d.data.len());
                        d.data[at] = 1.0;
                    } else {
                        d.data.iter_mut().for_each(|x| *x = random.normal());
                    }
                    let length = d.dot(&d).sqrt();
                    let h = 1e-5 / length;
                    let shifted = |sign: f64| {
                        let mut x = inputs.clone();
                        x[i].data.iter_mut().zip(&d.data).for_each(|(x, d)| *x += sign * h * d);
                        loss(&x)
                    };
                    let (up, down) = (shifted(1.0), shifted(-1.0));
                    let want = (up - down) / (2.0 * h);
                    if self.kinks {
                        // On a kink the two one-sided differences differ: the derivative is not defined there.
                        let middle = loss(&inputs);
                        let (left, right) = ((middle - down) / h, (up - middle) / h);
                        if (left - right).abs() > 1e-3 * (left.abs() + right.abs() + 1e-9) {
                            continue;
                        }
                    }
                    let got = g.dot(&d);
                    let allowed =
                        2.0 * tolerance * (norm * length / (d.data.len() as f64).sqrt()).max(want.abs());
                    if !((got - want).abs() <= allowed.max(1e-6)) {
                        return Err(CaseError::Differs(format!(
                            "gradient of {} (member {member}, probe {probe}): {got:.6e}, finite difference {want:.6e}, \
                             allowed {allowed:.1e}",
                            p.spec.name
                        )));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Root mean square error relative to the reference's, and no element off by 20 times that.
pub(crate) fn close(what: &str, got: &Matrix, want: &Matrix, tolerance: f64) -> Result<(), CaseError> {
    let scale = want.rms().max(1e-30);
    let error = Matrix { data: got.data.iter().zip(&want.data).map(|(a, b)| a - b).collect(), ..*want };
    let worst = error
        .data
        .iter()
        .enumerate()
        .fold((0, 0.0_f64), |w, (i, e)| if e.abs() > w.1 || e.is_nan() { (i, e.abs()) } else { w });
    if error.rms() <= tolerance * scale && worst.1 <= 20.0 * tolerance * scale {
        return Ok(());
    }
    Err(CaseError::Differs(format!(
        "{what}: rms error {:.2e} of {scale:.2e}, worst {:.3e} at row {} column {} (got {:.6e}, want {:.6e})",
        error.rms(),
        worst.1,
        worst.0 / want.cols,
        worst.0 % want.cols,
        got.data[worst.0],
        want.data[worst.0]
    )))
}

impl Case for LayerCase {
    fn name(&self) -> &'static str {
        self.name
    }

    fn sizes(&self) -> Vec<Vec<usize>> {
        self.sizes.iter().map(|s| s.to_vec()).collect()
    }

    fn exact(&self) -> bool {
        self.exact
    }

    fn run(&self, device: &Device, s: &Setting, check: bool) -> Result<Vec<Output>, CaseError> {
        let b = self.build(device, s)?;
        b.runtime.run("main", 1)?;
        device.synchronize()?;
        b.runtime.check_guards()?;
        let y = b.runtime.read(b.y)?;
        let gradient = b.runtime.read(b.net.gradient)?;
        if check {
            self.check(s, &b, &y, &gradient)?;
        }
        let mut outputs = vec![Output { name: "y".into(), bytes: b.runtime.read_bytes(b.y)?, values: y }];
        // Parameters alone: what lies between them in the image was poisoned and belongs to nobody.
        let bytes = b.runtime.read_bytes(b.net.gradient)?;
        let element = s.dtype.bytes();
        for p in &b.net.params {
            let mut out =
                Output { name: format!("d.{}", p.spec.name), bytes: Vec::new(), values: Vec::new() };
            for member in 0..s.members {
                for row in p.part_elements(0) {
                    let at = member * b.net.tiles * IMAGE_COLUMNS + row;
                    out.bytes.extend_from_slice(&bytes[at * element..(at + p.spec.cols) * element]);
                    out.values.extend_from_slice(&gradient[at..at + p.spec.cols]);
                }
            }
            outputs.push(out);
        }
        Ok(outputs)
    }
}
