//! The functions of `math.cuh` against F64, one at a time, and the arithmetic under them against this machine's own.

use crate::{Case, CaseError, Output, Random, Setting};
use foxhunt_core::{Bf16, DType};
use foxhunt_device::{Command, Device, Program};
use foxhunt_kernels::{
    Element, TREE, View,
    test::{Function, maths},
};

/// Inputs of one run at most: a stride over all bit patterns, what is random, and what is special.
const INPUTS: usize = 1 << 18;
/// Beyond this sin and cos are NaN.
const LARGEST_ANGLE: f32 = 48_039.0;

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    vec![Box::new(Maths)]
}

struct Maths;

/// Ulps that the header allows itself; none where the result is the one that IEEE 754 prescribes.
fn allowed_ulp(f: Function) -> Option<f64> {
    match f {
        Function::Exp => Some(0.86),
        Function::Log => Some(0.85),
        Function::Log1p => Some(1.4),
        Function::Tanh => Some(1.5),
        Function::Sigmoid => Some(2.3),
        Function::Sin | Function::Cos => Some(2.4),
        Function::InverseSqrt => Some(2.9),
        Function::Reciprocal => Some(0.51),
        Function::SquareRoot | Function::Fused | Function::Divide => None,
    }
}

/// Whether a function promises anything of `x`. Elsewhere builds and devices must still agree.
fn in_range(f: Function, x: f32) -> bool {
    match f {
        Function::InverseSqrt => x.is_normal() && x > 0.0,
        Function::Reciprocal => (f32::MIN_POSITIVE..=2_f32.powi(125)).contains(&x),
        _ => true,
    }
}

fn reference(f: Function, x: f32, next: f32, after: f32) -> f64 {
    let wide = f64::from(x);
    match f {
        Function::Exp => wide.exp(),
        Function::Log => wide.ln(),
        Function::Log1p => wide.ln_1p(),
        Function::Tanh => wide.tanh(),
        Function::Sigmoid => 1.0 / (1.0 + (-wide).exp()),
        Function::Sin | Function::Cos if x.is_nan() || x.abs() > LARGEST_ANGLE => f64::NAN,
        Function::Sin => wide.sin(),
        Function::Cos => wide.cos(),
        Function::SquareRoot => f64::from(x.sqrt()),
        Function::Fused => f64::from(x.mul_add(next, after)),
        Function::Divide => f64::from(x / next),
        Function::InverseSqrt => 1.0 / wide.sqrt(),
        Function::Reciprocal => 1.0 / wide,
    }
}

/// The distance between neighbours in F32 at `x`.
fn ulp(x: f64) -> f64 {
    let exponent = x.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor().min(127.0);
    2_f64.powf(exponent - 23.0)
}

/// Whether `got` is what `want` becomes in F32, within `allowed` ulps.
fn agrees(got: f32, want: f64, allowed: Option<f64>) -> bool {
    if want.is_nan() || got.is_nan() {
        return want.is_nan() && got.is_nan();
    }
    let rounded = want as f32;
    match allowed {
        None => got.to_bits() == rounded.to_bits(),
        // What overflows may be infinite or the largest number, within the same ulps; zeros keep their sign.
        Some(ulps) if rounded.is_infinite() || got.is_infinite() => {
            got == rounded || want.abs() > f64::from(f32::MAX) - ulps * ulp(f64::from(f32::MAX))
        }
        Some(_) if want == 0.0 => got == 0.0 && got.is_sign_negative() == want.is_sign_negative(),
        Some(ulps) => (f64::from(got) - want).abs() <= ulps * ulp(want),
    }
}

fn inputs(seed: u64, n: usize, wild: bool) -> Vec<f32> {
    let mut random = Random::new(seed);
    let special = [0.0, -0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN];
    let mut x: Vec<f32> = special.into();
    x.extend([f32::MIN_POSITIVE, 1e-40, -1e-45, 0.549_999, 0.55, 87.3, 88.8, -87.4, -103.9, 104.0, -104.1]);
    x.extend([LARGEST_ANGLE, -LARGEST_ANGLE, f32::from_bits(0x3f2a_aaab), -0.999_999, 1e-8, -1e-8]);
    // Everywhere by bits, which is everywhere by magnitude; then where functions bend.
    let stride = (u64::from(u32::MAX) / (n as u64 / 2)) | 1;
    let first = random.bits() % stride;
    x.extend((0..n as u64 / 2).map(|i| f32::from_bits((first + i * stride) as u32)));
    while x.len() < n {
        let scale = [1.0, 1e-3, 10.0, 1e4][random.below(4)];
        x.push(if wild { random.wild() } else { (scale * random.normal()) as f32 });
    }
    x
}

impl Case for Maths {
    fn name(&self) -> &'static str {
        "maths"
    }

    /// The function, and whether it is applied to one value at a time.
    fn sizes(&self) -> Vec<Vec<usize>> {
        (0..Function::ALL.len()).flat_map(|f| [vec![f, 0], vec![f, 1]]).collect()
    }

    fn exact(&self) -> bool {
        true
    }

    fn run(&self, device: &Device, s: &Setting, check: bool) -> Result<Vec<Output>, CaseError> {
        let (f, scalar) = (Function::ALL[s.size[0]], s.size[1] == 1);
        // One value at a time is slow, and the same functions.
        let n = if scalar || s.members > 1 { INPUTS / 16 } else { INPUTS };
        let x = inputs(s.seed, n, s.wild);
        let bytes = n * s.members * s.dtype.bytes();
        let arena = device.allocate(2 * bytes)?;
        let view = |name: &str, offset: usize| View {
            name: name.into(),
            addr: arena.addr() + offset as u64,
            element: Element::Real(s.dtype),
            rows: 1,
            cols: n,
            ld: n,
            members: s.members,
            member_stride: n,
        };
        let (from, to) = (view("x", 0), view("y", bytes));
        let all: Vec<f32> =
            (0..s.members).flat_map(|m| x.iter().cycle().skip(8 * m).take(n).copied()).collect();
        match s.dtype {
            DType::F32 => arena.write(0, &all)?,
            DType::Bf16 => {
                arena.write(0, &all.iter().map(|x| Bf16::from_f32(*x).to_bits()).collect::<Vec<_>>())?;
            }
        }
        arena.fill(bytes, bytes, 0xff)?;
        let launch =
            maths(s.dtype, s.members, f, scalar, (&from, &to)).map_err(foxhunt_nn::PlanError::from)?;
        Program::compile(device, &TREE, vec![Command::Launch(launch)])?.run(1)?;
        device.synchronize()?;
        let bytes_out = arena.read::<u8>(bytes, bytes)?;
        let read = |offset: usize| -> Result<Vec<f32>, CaseError> {
            Ok(match s.dtype {
                DType::F32 => arena.read::<f32>(offset, n * s.members)?,
                DType::Bf16 => {
                    let bits = arena.read::<u16>(offset, n * s.members)?;
                    bits.into_iter().map(|b| Bf16::from_bits(b).to_f32()).collect()
                }
            })
        };
        let (x, y) = (read(0)?, read(bytes)?);
        if check {
            for (i, got) in y.iter().enumerate() {
                let (member, at) = (i / n, i % n);
                let input = |ahead: usize| x[member * n + (at + 8 * ahead) % n];
                if !in_range(f, input(0)) {
                    continue;
                }
                let want = reference(f, input(0), input(1), input(2));
                let ok = match s.dtype {
                    DType::F32 => agrees(*got, want, allowed_ulp(f)),
                    // Rounded once more: the neighbour where the F32 result was on the other side of a tie.
                    DType::Bf16 => {
                        let slack = ulp(want) * allowed_ulp(f).unwrap_or(0.0);
                        let round = |x: f64| Bf16::from_f32(x as f32).to_f32();
                        got.is_nan() && want.is_nan()
                            || (round(want - slack)..=round(want + slack)).contains(got)
                    }
                };
                if !ok {
                    let off = (f64::from(*got) - want) / ulp(want);
                    return Err(CaseError::Differs(format!(
                        "{f:?} of {:e} ({:08x}), {:e}, {:e} is {got:e}, want {want:e}: {off:.3} ulp",
                        input(0),
                        input(0).to_bits(),
                        input(1),
                        input(2)
                    )));
                }
            }
        }
        Ok(vec![Output { name: format!("{f:?}"), bytes: bytes_out, values: Vec::new() }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ulp_too_many_is_found() {
        let next = f32::from_bits(1.0_f32.to_bits() + 1);
        assert!(agrees(1.0, 1.0, None) && agrees(next, 1.0, Some(1.0)));
        assert!(!agrees(next, 1.0, Some(0.86)) && !agrees(next, 1.0, None));
        assert!(agrees(f32::NAN, f64::NAN, None) && !agrees(f32::NAN, 1.0, Some(2.0)));
        assert!(!agrees(0.0, -0.0, Some(2.0)) && !agrees(0.0, -0.0, None));
        assert!(agrees(f32::INFINITY, 1e39, Some(1.0)) && !agrees(f32::INFINITY, 1e38, Some(1.0)));
        let tiny = f64::from(f32::from_bits(1));
        assert_eq!(ulp(3.0 * tiny), tiny, "subnormals lie as far apart as the smallest of them");
        assert!(!agrees(0.0, tiny, Some(0.86)), "a flush to zero");
    }
}
