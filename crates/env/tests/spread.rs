//! Members whose environments are spread over several markets: each environment does what it does where its market is the only
//! one.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, FEATURES, Run, SHAPE, builds, naming_features, random_market, rules};
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_device::Device;
use foxhunt_env::{Buffer, Environments, MemberSpec, Sample, Shape, Tables, Transition, exploration};
use foxhunt_market::RuleBook;

/// Bars, rules and windows of three markets, for two members.
fn world() -> (Tables, Vec<MemberSpec>) {
    let mut tables = Tables::new(FEATURES);
    let cheap =
        RuleBook { max_leverage_e4: 20_000, taker_fee_e7: 900, start_cash: 7_000_000, ..RuleBook::default() };
    let all = [(200, rules()), (120, cheap.row().unwrap()), (90, rules())];
    let markets: Vec<_> = all
        .into_iter()
        .enumerate()
        .map(|(k, (rows, rules))| {
            let bars = tables.add_bars(&random_market(5 + k as u64, rows));
            let mut features = naming_features(rows);
            features.iter_mut().for_each(|x| *x += 32.0 * k as f32);
            (tables.add_features(bars, &features).unwrap(), rows, rules)
        })
        .collect();
    let mut specs = Vec::new();
    for id in [4, 9] {
        for (k, (features, rows, rules)) in markets.iter().enumerate() {
            specs.push(MemberSpec {
                seed: member_seed(42, id),
                features: *features,
                window: 3 * k..rows - 5,
                volatility_floor_e9: 2_000_000 * (k as u32 + 1),
                rules: *rules,
                episode_bars: 20,
                discount: 0.99,
                n_step: 3,
                exploration: exploration(1.0, 0.01, 100),
            });
        }
    }
    (tables, specs)
}

/// 33 environments and three markets: 11 each; 34: 12, 11 and 11.
#[test]
fn an_environment_does_as_on_its_market_alone() {
    for dtype in DType::ALL {
        for build in builds(dtype) {
            for envs in [3, 33, 34] {
                let (tables, specs) = world();
                let shape = Shape { envs, ..SHAPE };
                let spread = Run::spread(build, shape, &tables, &specs, 3);
                assert_eq!(spread.env.members(), 2);
                let alone: Vec<Run> = (0..3)
                    .map(|k| {
                        let own: Vec<MemberSpec> = specs.iter().skip(k).step_by(3).cloned().collect();
                        Run::new(build, shape, &tables, &own)
                    })
                    .collect();
                let runs = || alone.iter().chain([&spread]);
                runs().for_each(Run::reset);
                let mut dice = Dice::new(3);
                for _ in 0..60 {
                    let actions: Vec<[u8; 3]> = (0..2 * envs).map(|_| dice.action()).collect();
                    runs().for_each(|run| run.step(&actions));
                }
                let market = |e: usize| e * 3 / envs;
                let per_market: Vec<usize> =
                    (0..3).map(|k| (0..envs).filter(|e| market(*e) == k).count()).collect();
                assert!(
                    per_market.iter().max().unwrap() - per_market.iter().min().unwrap() <= 1,
                    "{per_market:?}"
                );
                let rings: Vec<Vec<Transition>> = runs().map(|r| r.env.read(Buffer::Ring).unwrap()).collect();
                for (at, row) in rings[3].iter().enumerate() {
                    assert_eq!(*row, rings[market(at % envs)][at], "environment {}", at % envs);
                }
                assert!((0..3).all(|k| rings[k] != rings[(k + 1) % 3]), "the markets are not one");
                let seen: Vec<Vec<u32>> =
                    runs().map(|r| r.observe().iter().map(|x| x.to_bits()).collect()).collect();
                for (at, row) in seen[3].chunks(shape.state).enumerate() {
                    assert_eq!(row, &seen[market(at % envs)][at * shape.state..][..shape.state]);
                }
                // Batches: drawn alike, and gathered with the rules and rows of each sample's own market.
                let indices: Vec<Vec<u32>> = runs().map(Run::gather_uniform).collect();
                assert!(indices.iter().all(|i| *i == indices[3]));
                runs().for_each(|run| run.gather(&indices[3]));
                let samples: Vec<Vec<Sample>> =
                    runs().map(|r| r.env.read(Buffer::Samples).unwrap()).collect();
                let states: Vec<[Vec<f32>; 2]> = runs().map(Run::states).collect();
                for (at, index) in indices[3].iter().enumerate() {
                    let own = market(*index as usize % envs);
                    assert_eq!(samples[3][at], samples[own][at]);
                    let row = at * shape.state..(at + 1) * shape.state;
                    for which in [0, 1] {
                        let bits = |run: usize| {
                            states[run][which][row.clone()].iter().map(|x| x.to_bits()).collect::<Vec<_>>()
                        };
                        assert_eq!(bits(3), bits(own), "sample {at}");
                    }
                }
            }
        }
    }
}

#[test]
fn lines_of_a_member_must_fit_one_another() {
    let (tables, specs) = world();
    let make = |envs: usize, markets: usize, change: &dyn Fn(&mut MemberSpec)| {
        let mut specs = specs.clone();
        change(&mut specs[4]);
        let shape = Shape { envs, ..SHAPE };
        match Environments::spread(&Device::cpu(), DType::F32, shape, &tables, &specs, markets) {
            Ok(_) => String::new(),
            Err(e) => e.to_string(),
        }
    };
    assert_eq!(make(33, 3, &|_| {}), "");
    assert!(make(2, 3, &|_| {}).contains("3 markets and 2 environments"));
    assert!(make(33, 4, &|_| {}).contains("6 lines for members of 4 markets"));
    assert!(make(33, 0, &|_| {}).contains("0 markets"));
    let changes: [fn(&mut MemberSpec); 4] =
        [|s| s.seed += 1, |s| s.n_step += 1, |s| s.discount = 0.5, |s| s.episode_bars = 9];
    for change in changes {
        let error = make(33, 3, &change);
        assert!(error.contains("member 1") && error.contains("markets"), "{error}");
    }
}
