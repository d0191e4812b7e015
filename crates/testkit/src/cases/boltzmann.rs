//! Boltzmann actions: each is the largest of q / T + Gumbel noise in F64, from the same draws, and their frequencies are those
//! of the softmax.

use crate::{Case, CaseError, Output, Random, Setting};
use foxhunt_core::rng::{Purpose, draw, member_seed};
use foxhunt_device::{Command, Device};
use foxhunt_kernels::{
    Element,
    env::{Env, EnvBoltzmann, EnvMember, Exploration, env_boltzmann},
    market::BRANCH_ACTIONS,
};
use foxhunt_nn::{Options, Plan};

/// Actions of all branches.
const UNITS: usize = 15;
/// From this number of environments on the frequencies are looked at, with equal values everywhere.
const MANY: usize = 10_000;
/// How far two sums may lie apart that F32 can tell no more: noise below 17, and q / T below 2^10 of it.
const NEAR: f64 = 1e-4;

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    vec![Box::new(Boltzmann)]
}

struct Boltzmann;

/// Temperatures at start and end in 2^-24, steps between them, and the step of all environments.
const SCHEDULES: [(Exploration, u64); 4] = [
    (line(1 << 24, 838_861, 1_000), 0),
    (line(1 << 24, 838_861, 1_000), 700),
    (line(1 << 24, 838_861, 1_000), 5_000_000_000),
    (line(1 << 24, 1 << 26, 0), 3),
];

const fn line(start: u32, end: u32, steps: u32) -> Exploration {
    Exploration { start, end, steps, reserved: 0 }
}

/// The temperature of a step, in 128-bit integers and F64.
fn temperature(x: &Exploration, step: u64) -> f64 {
    let (start, end, steps) = (i128::from(x.start), i128::from(x.end), i128::from(x.steps));
    let at = i128::from(step).min(steps);
    // Rounded down, also where it falls.
    let q24 = if steps == 0 { end } else { start + ((end - start) * at).div_euclid(steps) };
    q24 as f64 / f64::from(1 << 24)
}

/// The noise of each action of one environment.
fn noise(seed: u64, step: u64, env: usize) -> [f64; UNITS] {
    let words: Vec<u32> =
        (0..4).flat_map(|k| draw(seed, step, k, Purpose::Gumbel, env as u32)).take(UNITS).collect();
    std::array::from_fn(|i| {
        let u = (f64::from(words[i] >> 9) + 0.5) / f64::from(1 << 23);
        -(-u.ln()).ln()
    })
}

/// Sums of one branch, and whether `got` is the largest of them or as near to it as F32 tells.
fn is_largest(sums: &[f64], got: usize) -> bool {
    let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let size = sums.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(1.0, f64::max);
    sums.get(got).is_some_and(|x| most - x <= NEAR * size)
}

/// Pearson's statistic of counts against probabilities; no count may stand where there is none.
fn chi_squared(counts: &[usize], p: &[f64]) -> f64 {
    let n = counts.iter().sum::<usize>() as f64;
    counts.iter().zip(p).map(|(c, p)| (*c as f64 - n * p).powi(2) / (n * p).max(1e-300)).sum()
}

/// The softmax of values over a temperature.
fn softmax(q: &[f32], temperature: f64) -> Vec<f64> {
    let most = q.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let e: Vec<f64> = q.iter().map(|q| (f64::from(q - most) / temperature).exp()).collect();
    let sum: f64 = e.iter().sum();
    e.iter().map(|e| e / sum).collect()
}

impl Case for Boltzmann {
    fn name(&self) -> &'static str {
        "env_boltzmann"
    }

    /// Environments, schedule.
    fn sizes(&self) -> Vec<Vec<usize>> {
        [[1, 0], [33, 1], [130, 2], [MANY + 1, 0], [MANY, 1], [MANY, 3]].map(Vec::from).into()
    }

    fn exact(&self) -> bool {
        true
    }

    fn run(&self, device: &Device, s: &Setting, check: bool) -> Result<Vec<Output>, CaseError> {
        let envs = s.size[0];
        let (schedule, step) = SCHEDULES[s.size[1]];
        let mut plan = Plan::new(s.dtype, s.members);
        let env = plan.buffer("envs", Element::of::<Env>(), envs, 1);
        let member = plan.buffer("members", Element::of::<EnvMember>(), 1, 1);
        let exploration = plan.buffer("exploration", Element::of::<Exploration>(), 1, 1);
        let q = plan.real_buffer("q", envs, UNITS);
        let actions = plan.buffer("actions", Element::U8, envs, BRANCH_ACTIONS.len());
        plan.run_foreign("env.act", &[env, member, exploration, q], &[actions], move |cx| {
            let x = EnvBoltzmann {
                env: cx.view(env),
                member: cx.view(member),
                temperature: cx.view(exploration),
                q: cx.view(q),
                actions: cx.view(actions),
            };
            Ok(vec![Command::Launch(env_boltzmann(cx.dtype(), cx.members(), &x)?)])
        });
        let runtime = plan.compile(device, Options { guard_bytes: 64 })?;
        let seeds: Vec<u64> = (0..s.members as u64).map(|m| member_seed(s.seed, m)).collect();
        runtime.write_raw(env, &vec![Env { step, ..Env::default() }; envs * s.members])?;
        let rows: Vec<EnvMember> =
            seeds.iter().map(|seed| EnvMember { seed: *seed, ..EnvMember::default() }).collect();
        runtime.write_raw(member, &rows)?;
        runtime.write_raw(exploration, &vec![schedule; s.members])?;
        let mut random = Random::new(s.seed);
        let mut values = |rows: usize| -> Vec<f32> {
            let value = |_| if s.wild { random.wild() } else { (0.3 * random.normal()) as f32 };
            (0..rows * UNITS).map(value).collect()
        };
        let many = envs >= MANY && !s.wild;
        let mut all = if many { values(1).repeat(envs * s.members) } else { values(envs * s.members) };
        // A masked action: never drawn.
        all.iter_mut().skip(4).step_by(UNITS).for_each(|q| *q = f32::NEG_INFINITY);
        runtime.write(q, &all)?;
        runtime.fill(actions, 0xff)?;
        runtime.run("main", 1)?;
        device.synchronize()?;
        runtime.check_guards()?;

        let (values, got) = (runtime.read(q)?, runtime.read_raw::<u8>(actions)?);
        if check {
            let t = temperature(&schedule, step);
            for (row, got) in got.chunks(BRANCH_ACTIONS.len()).enumerate() {
                let noise = noise(seeds[row / envs], step, row % envs);
                let mut first = 0;
                for (d, n) in BRANCH_ACTIONS.into_iter().enumerate() {
                    let sums: Vec<f64> = (first..first + n)
                        .map(|i| f64::from(values[row * UNITS + i]) / t + noise[i])
                        .collect();
                    if !is_largest(&sums, usize::from(got[d])) {
                        return Err(CaseError::Differs(format!(
                            "row {row} branch {d}: {} of {sums:?}",
                            got[d]
                        )));
                    }
                    first += n;
                }
            }
            if many {
                frequencies(&values[..UNITS], t, &got)?;
            }
        }
        Ok(vec![Output { name: "actions".into(), bytes: runtime.read_bytes(actions)?, values: Vec::new() }])
    }
}

/// Holds how often each action was drawn from equal values against their softmax, by Pearson's test: its statistic is beyond
/// the bound less often than once in a thousand times (30 for 9 actions, 15 for 3).
fn frequencies(q: &[f32], temperature: f64, actions: &[u8]) -> Result<(), CaseError> {
    let mut first = 0;
    for (d, n) in BRANCH_ACTIONS.into_iter().enumerate() {
        let mut counts = vec![0; n];
        actions.iter().skip(d).step_by(BRANCH_ACTIONS.len()).for_each(|a| counts[usize::from(*a)] += 1);
        let p = softmax(&q[first..first + n], temperature);
        // Rare ones together: their counts are not normal.
        let total = counts.iter().sum::<usize>() as f64;
        let (mut common, mut rare) = ((Vec::new(), Vec::new()), (0, 0.0));
        for (c, p) in counts.iter().zip(&p) {
            if total * p >= 10.0 {
                common.0.push(*c);
                common.1.push(*p);
            } else {
                rare = (rare.0 + c, rare.1 + p);
            }
        }
        if total * rare.1 > 1.0 {
            common.0.push(rare.0);
            common.1.push(rare.1);
        }
        let statistic = chi_squared(&common.0, &common.1);
        let freedom = common.0.len().saturating_sub(1) as f64;
        let most = freedom + 4.5 * (2.0 * freedom).sqrt() + 4.0;
        if statistic > most {
            return Err(CaseError::Differs(format!(
                "branch {d}: counts {counts:?} of softmax {p:?}: chi squared {statistic:.1} of {freedom} degrees, more than {most:.1}"
            )));
        }
        first += n;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_finds_other_draws_and_other_frequencies() {
        assert!(is_largest(&[1.0, 3.0, 2.0], 1) && is_largest(&[1.0, 3.0, 3.0 - 1e-5], 2));
        assert!(!is_largest(&[1.0, 3.0, 2.0], 2) && !is_largest(&[f64::NEG_INFINITY, -5.0], 0));
        let x = line(1 << 24, 838_861, 1_000);
        assert_eq!((temperature(&x, 0), temperature(&x, 1 << 40)), (1.0, 838_861.0 / f64::from(1 << 24)));
        assert!((temperature(&x, 500) - 0.525).abs() < 1e-6);
        let p = softmax(&[0.0, 0.1, f32::NEG_INFINITY], 0.1);
        assert!((p[1] / p[0] - 1_f64.exp()).abs() < 1e-6 && p[2] == 0.0);
        // Ten thousand draws of a softmax at another temperature, 10 % off, don't pass for those of this one.
        let q = [0.3, -0.2, 0.1, 0.0, 0.2, -0.5, 0.4, -0.1, 0.0, 0.3, -0.3, 0.0, 0.1, 0.2, -0.4];
        let actions = |temperature: f64| -> Vec<u8> {
            let largest = |e: usize, first: usize, n: usize| {
                let noise = noise(7, 1, e);
                let sum = |i: usize| f64::from(q[first + i]) / temperature + noise[first + i];
                (0..n).max_by(|a, b| sum(*a).total_cmp(&sum(*b))).unwrap_or(0) as u8
            };
            (0..MANY).flat_map(|e| [largest(e, 0, 9), largest(e, 9, 3), largest(e, 12, 3)]).collect()
        };
        assert!(frequencies(&q, 0.1, &actions(0.1)).is_ok());
        assert!(frequencies(&q, 0.1, &actions(0.11)).is_err());
    }
}
