//! The fused step's mean over units, as two words: the part of it that every target has.

use crate::{Case, CaseError, Output, Random, Setting};
use foxhunt_core::{Bf16, DType};
use foxhunt_device::{Command, Device};
use foxhunt_kernels::{
    fused::{dqn_mean, mean_rows},
    loss::HeadShape,
};
use foxhunt_nn::{Options, Plan};

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    vec![Box::new(DqnMean)]
}

struct DqnMean;

/// Of both words together, of the mean of magnitudes: 2^-18 of a value beside the sum's own roundings.
const ALLOWED: f64 = 1.0 / 65_536.0;

impl Case for DqnMean {
    fn name(&self) -> &'static str {
        "dqn_mean"
    }

    /// Width of a stream, atoms, actions of each branch.
    fn sizes(&self) -> Vec<Vec<usize>> {
        vec![
            vec![8, 2, 1],
            vec![128, 51, 9, 3, 3],
            vec![24, 7, 2, 5],
            vec![64, 64, 16],
            vec![8, 17, 3, 1, 2, 7],
        ]
    }

    fn exact(&self) -> bool {
        true
    }

    fn run(&self, device: &Device, s: &Setting, check: bool) -> Result<Vec<Output>, CaseError> {
        let (width, atoms, actions) = (s.size[0], s.size[1], s.size[2..].to_vec());
        let shape = HeadShape { actions, atoms, v_min: -10.0, v_max: 10.0 };
        let (rows, out_rows) = (shape.logit_columns(), mean_rows(&shape));
        let mut plan = Plan::new(s.dtype, s.members);
        let nets = [plan.real_buffer("w", rows, width), plan.real_buffer("target", rows, width)];
        let mean = plan.real_buffer("mean", out_rows, width);
        let of = shape.clone();
        plan.run_foreign("dqn_mean", &nets, &[mean], move |cx| {
            let nets = nets.map(|t| cx.view(t));
            Ok(vec![Command::Launch(dqn_mean(cx.dtype(), cx.members(), &of, nets, cx.view(mean))?)])
        });
        let runtime = plan.compile(device, Options { guard_bytes: 64 })?;
        let mut random = Random::new(s.seed);
        for t in nets {
            let values: Vec<f32> = (0..s.members * rows * width)
                .map(|_| if s.wild { random.wild() } else { random.normal() as f32 })
                .collect();
            runtime.write(t, &values)?;
        }
        // All of it is overwritten, padded atoms too.
        runtime.fill(mean, 0xff)?;
        runtime.run("main", 1)?;
        device.synchronize()?;
        runtime.check_guards()?;
        let got = runtime.read(mean)?;
        if check {
            let weights = [runtime.read(nets[0])?, runtime.read(nets[1])?];
            for m in 0..s.members {
                let member =
                    |all: &[f32], rows: usize| all[m * rows * width..(m + 1) * rows * width].to_vec();
                let nets = [member(&weights[0], rows), member(&weights[1], rows)];
                check_member(s.dtype, &shape, width, &nets, &member(&got, out_rows))?;
            }
        }
        Ok(vec![Output { name: "mean".into(), bytes: runtime.read_bytes(mean)?, values: got }])
    }
}

fn check_member(
    dtype: DType,
    shape: &HeadShape,
    width: usize,
    nets: &[Vec<f32>; 2],
    got: &[f32],
) -> Result<(), CaseError> {
    let (unit, branches) = (shape.unit_ld() * width, shape.actions.len());
    for (net, w) in nets.iter().enumerate() {
        for branch in 0..branches {
            let (first, count) = shape.stream_units(1 + branch);
            for i in 0..unit {
                let of = |k: usize| f64::from(w[(first + k) * unit + i]);
                let want = -(0..count).map(of).sum::<f64>() / count as f64;
                let scale = (0..count).map(|k| of(k).abs()).sum::<f64>() / count as f64;
                let at = (net * branches + branch) * 2 * unit + i;
                let (high, low) = (got[at], got[at + unit]);
                let sum = f64::from(high) + f64::from(low);
                // The high word is the nearest to the whole, or one of two.
                let nearest = f64::from(Bf16::from_f32(sum as f32).to_f32());
                let apart = (sum - f64::from(high)).abs();
                let whole = dtype == DType::F32 && low == 0.0
                    || dtype == DType::Bf16 && apart <= (sum - nearest).abs();
                if !((sum - want).abs() <= ALLOWED * scale && whole) {
                    return Err(CaseError::Differs(format!(
                        "net {net}, branch {branch}, element {i}: {high:e} + {low:e}, want {want:e}"
                    )));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that are wrong in every way that a kernel could make them.
    #[test]
    fn wrong_words_are_found() {
        let shape = HeadShape { actions: vec![3], atoms: 2, v_min: -1.0, v_max: 1.0 };
        let nets =
            [1.0, 2.0].map(|x| (0..4 * 8).map(|i| x * [9.0, 0.1, 0.2, 0.7][i / 8]).collect::<Vec<f32>>());
        let mean = |x: f32| -x * (0.1_f32 + 0.2 + 0.7) / 3.0;
        let words = |x: f32| {
            let high = Bf16::from_f32(x).to_f32();
            [high, Bf16::from_f32(x - high).to_f32()]
        };
        let good: Vec<f32> =
            [mean(1.0), mean(2.0)].into_iter().flat_map(words).flat_map(|x| [x; 8]).collect();
        let check = |got: &[f32]| check_member(DType::Bf16, &shape, 1, &nets, got);
        check(&good).unwrap();
        let planted = |at: usize, x: f32| {
            let mut bad = good.clone();
            bad[at] = x;
            assert!(check(&bad).is_err(), "{at}: {x}");
        };
        planted(0, -good[0]);
        planted(9, 0.0);
        planted(16, good[0]);
        planted(31, f32::NAN);
        // A good sum in words that are not the nearest.
        let mut bad = good.clone();
        (bad[3], bad[11]) = (0.0, good[3]);
        assert!(check(&bad).is_err());
    }
}
