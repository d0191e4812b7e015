//! Epsilon-greedy and Boltzmann: frequencies, ties, schedule.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, Run, SHAPE, builds, world};
use foxhunt_core::{Bf16, DType};
use foxhunt_device::{Command, Device};
use foxhunt_env::{Buffer, Env, MemberSpec, Shape, exploration, temperature};
use foxhunt_kernels::{Element, View};

const ENVS: usize = 1_000;

/// `runs` times the actions of 1,000 environments at consecutive steps, from `command`.
fn act(run: &Run, command: &Command, first_step: u64, runs: u64) -> Vec<[u8; 3]> {
    (first_step..first_step + runs)
        .flat_map(|step| {
            run.env.write(Buffer::Envs, &[Env { step, ..Env::default() }; ENVS]).unwrap();
            run.run(command.clone());
            run.env.read::<[u8; 3]>(Buffer::Actions).unwrap()
        })
        .collect()
}

fn run_with(start: f64, end: f64, steps: u32, dtype: DType) -> Run {
    let (tables, members) = world(100, &[0]);
    let members = [MemberSpec { exploration: exploration(start, end, steps), ..members[0].clone() }];
    Run::new(*builds(dtype).last().unwrap(), Shape { envs: ENVS, ..SHAPE }, &tables, &members)
}

/// A buffer beside the environments' own, of one member.
fn buffer(arena: &foxhunt_device::Arena, element: Element, cols: usize, ld: usize) -> View {
    let (name, addr) = ("choice".into(), arena.addr());
    View { name, addr, element, rows: ENVS, cols, ld, members: 1, member_stride: 0 }
}

const GREEDY: [u8; 3] = [7, 1, 2];

fn greedy(run: &Run) -> (foxhunt_device::Arena, Command) {
    let arena = Device::cpu().allocate(3 * ENVS).unwrap();
    arena.write(0, &[GREEDY; ENVS]).unwrap();
    let command = run.env.act_greedy(&buffer(&arena, Element::U8, 3, 3)).unwrap();
    (arena, command)
}

#[test]
fn all_three_branches_are_greedy_with_one_minus_epsilon() {
    for epsilon in [0.0, 0.1, 0.5, 1.0] {
        let run = run_with(epsilon, epsilon, 1, DType::F32);
        let (_arena, command) = greedy(&run);
        let all = act(&run, &command, 0, 50);
        let n = all.len() as f64;
        let branch = 1.0 - (1.0 - epsilon).powf(1.0 / 3.0);
        for (d, actions) in [9.0, 3.0, 3.0].into_iter().enumerate() {
            let kept = all.iter().filter(|a| a[d] == GREEDY[d]).count() as f64 / n;
            let want = 1.0 - branch + branch / actions;
            assert!(
                (kept - want).abs() < 4.0 * (want * (1.0 - want) / n).sqrt() + 1e-9,
                "{epsilon} {d}: {kept} {want}"
            );
            assert!(all.iter().all(|a| f64::from(a[d]) < actions));
        }
        // Branches explore independently: whole actions stay greedy as often as the product says.
        let whole = all.iter().filter(|a| **a == GREEDY).count() as f64 / n;
        let want: f64 = [9.0, 3.0, 3.0].iter().map(|a| 1.0 - branch + branch / a).product();
        assert!(
            (whole - want).abs() < 4.0 * (want * (1.0 - want) / n).sqrt() + 1e-9,
            "{epsilon}: {whole} {want}"
        );
        if epsilon == 1.0 {
            for value in 0..9 {
                let share = all.iter().filter(|a| a[0] == value).count() as f64 / n;
                assert!((share - 1.0 / 9.0).abs() < 0.006, "exposure {value}: {share}");
            }
        }
    }
}

#[test]
fn epsilon_falls_linearly_with_the_step_and_stays() {
    let run = run_with(1.0, 0.01, 1_000, DType::F32);
    let (_arena, command) = greedy(&run);
    for (step, epsilon) in [(0, 1.0), (500, 0.505), (1_000, 0.01), (5_000_000_000, 0.01)] {
        let all = act(&run, &command, step, 1);
        let branch = 1.0 - (1.0_f64 - epsilon).powf(1.0 / 3.0);
        let kept = all.iter().filter(|a| a[0] == GREEDY[0]).count() as f64 / all.len() as f64;
        let want = 1.0 - branch + branch / 9.0;
        let sd = (want * (1.0 - want) / all.len() as f64).sqrt();
        assert!((kept - want).abs() < 4.0 * sd, "step {step}: {kept} {want}");
    }
}

#[test]
fn values_choose_the_lowest_index_of_the_best() {
    let mut q = [[0.0_f32; 15]; 4];
    q[0][3] = 1.0; // one best
    q[1] = [2.0; 15]; // all equal
    q[2][5] = 4.0;
    q[2][6] = 4.0; // a tie
    q[2][11] = -1.0;
    q[2][13] = 0.5;
    q[3] = [f32::NEG_INFINITY; 15]; // masked but for one of each branch
    (q[3][8], q[3][11], q[3][14]) = (-5.0, -6.0, -7.0);
    let want = [[3, 0, 0], [0, 0, 0], [5, 0, 1], [8, 2, 2]];
    for dtype in DType::ALL {
        let run = run_with(0.0, 0.0, 0, dtype);
        let arena = Device::cpu().allocate(ENVS * 16 * 4).unwrap();
        let padded = (0..ENVS).flat_map(|e| q[e % 4].into_iter().chain([9.0]));
        match dtype {
            DType::F32 => arena.write(0, &padded.collect::<Vec<f32>>()).unwrap(),
            DType::Bf16 => {
                arena.write(0, &padded.map(|x| Bf16::from_f32(x).to_bits()).collect::<Vec<u16>>()).unwrap();
            }
        }
        let command = run.env.act_by_value(&buffer(&arena, Element::Real(dtype), 15, 16)).unwrap();
        for (e, action) in act(&run, &command, 0, 1).into_iter().enumerate() {
            assert_eq!(action, want[e % 4], "{dtype}, environment {e}");
        }
    }
}

/// Draws depend on seed, step and environment alone.
#[test]
fn exploration_is_a_function_of_seed_step_and_environment() {
    let run = run_with(0.7, 0.7, 1, DType::F32);
    let (_arena, command) = greedy(&run);
    let (a, again, later) = (act(&run, &command, 5, 1), act(&run, &command, 5, 1), act(&run, &command, 6, 1));
    assert_eq!(a, again);
    assert_ne!(a, later);
    assert_ne!(a[..500], a[500..]);
}

/// By temperature, of values 0, 0.1, 0.2 … in each branch: the softmax's frequencies, and the best at almost none.
#[test]
fn boltzmann_draws_from_the_softmax_at_the_temperature_of_the_step() {
    let (tables, members) = world(100, &[0]);
    let members = [MemberSpec { exploration: temperature(1.0, 0.001, 1_000), ..members[0].clone() }];
    let shape = Shape { envs: ENVS, ..SHAPE };
    let run = Run::new(*builds(DType::F32).last().unwrap(), shape, &tables, &members);
    let arena = Device::cpu().allocate(ENVS * 16 * 4).unwrap();
    let values =
        |i: usize| [i, i - i.min(9), i - i.min(12)][usize::from(i > 8) + usize::from(i > 11)] as f32 / 10.0;
    arena.write(0, &(0..ENVS * 16).map(|i| values(i % 16)).collect::<Vec<f32>>()).unwrap();
    let command = run.env.act_boltzmann(&buffer(&arena, Element::Real(DType::F32), 15, 16)).unwrap();
    for (step, t) in [(0, 1.0), (900, 0.1009)] {
        let drawn = act(&run, &command, step, 1);
        assert_eq!(drawn, act(&run, &command, step, 1), "draws are keyed by the step");
        for (d, n) in [9, 3, 3].into_iter().enumerate() {
            let e = |k: usize| (k as f64 / 10.0 / t).exp();
            let sum: f64 = (0..n).map(e).sum();
            for k in 0..n {
                let share = drawn.iter().filter(|a| usize::from(a[d]) == k).count() as f64 / ENVS as f64;
                let p = e(k) / sum;
                assert!(
                    (share - p).abs() < 4.5 * (p * (1.0 - p) / ENVS as f64).sqrt() + 1e-3,
                    "{step} {d} {k}: {share} {p}"
                );
            }
        }
    }
    assert!(act(&run, &command, 1 << 40, 1).iter().all(|a| *a == [8, 2, 2]));
}

/// In one launch the same actions, accounts, replay rows and counts as in two.
#[test]
fn acting_and_stepping_in_one_is_both() {
    let (tables, members) = world(200, &[0, 1, 2]);
    for dtype in DType::ALL {
        for build in builds(dtype) {
            let [one, two] = [(); 2].map(|()| Run::new(build, SHAPE, &tables, &members));
            let arena = Device::cpu().allocate(3 * 3 * SHAPE.envs).unwrap();
            let greedy = View {
                rows: SHAPE.envs,
                members: 3,
                member_stride: 3 * SHAPE.envs,
                ..buffer(&arena, Element::U8, 3, 3)
            };
            one.reset();
            two.reset();
            let mut dice = Dice::new(3);
            for _ in 0..150 {
                let actions: Vec<[u8; 3]> = (0..3 * SHAPE.envs).map(|_| dice.action()).collect();
                arena.write(0, &actions).unwrap();
                one.run(one.env.step_greedy(&greedy).unwrap());
                two.run(two.env.act_greedy(&greedy).unwrap());
                two.run(two.env.step().unwrap());
            }
            for buffer in [Buffer::Actions, Buffer::Envs, Buffer::Ring, Buffer::Tally] {
                let [a, b] = [&one, &two].map(|run| run.env.read::<u8>(buffer).unwrap());
                assert!(a == b && a.iter().any(|x| *x != 0), "{build:?} {buffer:?}");
            }
        }
    }
}
