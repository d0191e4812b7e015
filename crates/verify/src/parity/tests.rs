use super::{
    accounts::{self, PLAYS},
    collect, greedy, ledgers, training,
};
use foxhunt_core::{DType, Weights};
use foxhunt_device::{Device, Isa};
use foxhunt_emulator::Hopper;
use foxhunt_env::{Buffer, Env, EnvMember, Environments, Tally, Transition};
use foxhunt_market::flag;

/// The checked CPU and its reference.
fn devices() -> (Device, Device) {
    let device = Device::cpu();
    let reference = super::reference(&device);
    (device, reference)
}

fn holds(found: &[String]) {
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_cpu_is_not_held_against_itself() {
    let Device::Cpu(_) = super::reference(&Device::cpu_with(Isa::Base)) else { panic!("not a CPU") };
    let names = [Device::cpu(), super::reference(&Device::cpu())].map(|d| d.to_string());
    assert_ne!(names[0], names[1]);
}

#[test]
fn builds_keep_the_same_accounts() {
    let (device, reference) = devices();
    for dtype in DType::ALL {
        let c = accounts::compare_with((&device, &reference), dtype, &PLAYS[1..2], &|_, _| Ok(())).unwrap();
        holds(&c.found);
        assert!(c.said.starts_with("237,600 steps, 36,000 samples"), "{}", c.said);
        // Environments that are spread over several markets.
        let c = accounts::compare_with((&device, &reference), dtype, &PLAYS[4..], &|_, _| Ok(())).unwrap();
        holds(&c.found);
        assert!(c.said.starts_with("168,000 steps, 12,000 samples"), "{}", c.said);
    }
}

fn accounts_found(plant: accounts::Plant<'_>) -> Vec<String> {
    let (device, reference) = devices();
    accounts::compare_with((&device, &reference), DType::F32, &PLAYS[3..4], plant).unwrap().found
}

#[test]
fn a_flipped_byte_is_named() {
    // In the ring's row of step 217 (125 rows), member 3, environment 5.
    let place = (3 * 125 + 217 % 125) * 7 + 5;
    let ring = |env: &Environments, chunk: Option<usize>| {
        if chunk == Some(2) {
            let mut ring: Vec<Transition> = env.read(Buffer::Ring)?;
            ring[place].flags ^= flag::STOPPED;
            env.write(Buffer::Ring, &ring)?;
        }
        Ok(())
    };
    let found = accounts_found(&ring);
    assert_eq!(found.len(), 4, "one in each world: {found:#?}");
    let words = "trade bars, P 5 E 7: ring, member 3, environment 5, step 217: byte 87 is ";
    assert!(found[0].starts_with(words), "{found:#?}");

    let sample = |env: &Environments, chunk: Option<usize>| {
        if chunk == Some(1) {
            let mut x: Vec<[i32; 4]> = env.read(Buffer::Samples)?;
            x[2 * 250 + 17][0] += 1;
            env.write(Buffer::Samples, &x)?;
        }
        Ok(())
    };
    let found = accounts_found(&sample);
    let words = "samples, member 2, sample 17, column 0, steps 100 to 199: byte 0 is ";
    assert!(found.len() == 4 && found[3].contains(words), "{found:#?}");

    let tally = |env: &Environments, chunk: Option<usize>| {
        if chunk == Some(0) {
            let mut t: Vec<Tally> = env.read(Buffer::Tally)?;
            t[4].stops += 1;
            env.write(Buffer::Tally, &t)?;
        }
        Ok(())
    };
    let found = accounts_found(&tally);
    assert!(found.len() == 4 && found[0].contains("tally, member 4"), "{found:#?}");
}

#[test]
fn another_seed_is_another_run() {
    let seed = |env: &Environments, chunk: Option<usize>| {
        if chunk.is_none() {
            let mut members: Vec<EnvMember> = env.read(Buffer::Members)?;
            members[1].seed ^= 1;
            env.write(Buffer::Members, &members)?;
        }
        Ok(())
    };
    let found = accounts_found(&seed);
    assert!(
        found[0].contains("ring, member 1, environment ") && found[0].contains(", step 0: "),
        "{found:#?}"
    );
    for name in ["envs", "indices", "samples", "states", "observation"] {
        assert!(found.iter().any(|f| f.contains(&format!(": {name}, member 1"))), "{name}: {found:#?}");
    }
}

#[test]
fn builds_write_the_same_ledgers() {
    let (device, reference) = devices();
    for dtype in DType::ALL {
        holds(&ledgers::compare(&device, &reference, dtype).unwrap().found);
    }
    let found =
        ledgers::compare_with(&device, &reference, DType::F32, &|rows, _| rows[3].fees += 1).unwrap().found;
    assert!(found.len() == 8 && found[0].starts_with("trade bars: rows, member 0, decision 3"), "{found:#?}");
    let price = |_: &mut [_], fills: &mut [foxhunt_market::FillRow]| {
        if let Some(leg) = fills.iter_mut().find(|f| f.lots != 0) {
            leg.price += 2;
        }
    };
    let found = ledgers::compare_with(&device, &reference, DType::F32, &price).unwrap().found;
    assert!(found.len() == 8 && found[0].starts_with("trade bars: fills, member 0"), "{found:#?}");
}

#[test]
fn builds_choose_the_same_actions() {
    let (device, reference) = devices();
    for dtype in DType::ALL {
        let c = greedy::compare_with(&device, &reference, dtype, &[0.5], &|_| {}).unwrap();
        holds(&c.found);
        assert!(c.said.starts_with("27,009 of 27,009 decisions equal"), "{}", c.said);
        // Noise in the last digits tips near ties, which are let be.
        let noise = |x: &mut greedy::Inputs| {
            for (i, b) in x.bias.iter_mut().enumerate() {
                let (unit, atom) = (i / 51, i % 51);
                *b += (atom as f32 - 25.0) * if unit % 2 == 0 { 2.5e-7 } else { -2.5e-7 };
            }
        };
        let c = greedy::compare_with(&device, &reference, DType::F32, &[0.1], &noise).unwrap();
        holds(&c.found);
        assert!(c.said.starts_with("26,9") || c.said.starts_with("27,00"), "{}", c.said);
        assert!(!c.said.starts_with("27,009 of"), "nothing tipped: {}", c.said);
        // One action's distribution moved is more than that.
        let moved =
            |x: &mut greedy::Inputs| x.bias[51..102].iter_mut().rev().take(9).for_each(|b| *b += 0.05);
        let found = greedy::compare_with(&device, &reference, dtype, &[0.5], &moved).unwrap().found;
        assert!(
            found.len() == 1 && found[0].contains("member 0") && found[0].contains("branch 0"),
            "{found:#?}"
        );
    }
}

#[test]
fn a_training_is_the_same_bytes() {
    let (device, reference) = devices();
    for dtype in DType::ALL {
        holds(&training::compare(&device, &reference, dtype).unwrap().found);
    }
    let moment = |which: &str, trainer: &foxhunt_train::Trainer| {
        if which == "an eager run" {
            let m = trainer.net().m;
            let mut bytes = trainer.runtime().read_member_bytes(m, 1)?;
            bytes[40] ^= 1;
            trainer.runtime().write_member_bytes(m, 1, &bytes)?;
        }
        Ok(())
    };
    let found =
        training::compare_with(&device, &reference, DType::F32, Weights::Plain, &moment).unwrap().found;
    assert_eq!(found, ["an eager run leaves another q.m: member 1, from byte 40 on"]);
}

#[test]
fn decisions_in_one_launch_are_those_of_a_chain() {
    // Two tiles, the second with one row; more of them; a member's environments on three markets.
    let play = |members, markets, envs, decisions| collect::Play { members, markets, envs, decisions };
    let small = [play(1, 1, 65, 7), play(3, 1, 200, 4), play(2, 3, 130, 5)];
    let c = collect::compare_with(&Hopper::device(3), DType::Bf16, &small, &|_| Ok(())).unwrap();
    holds(&c.found);
    // In four worlds one environment of seven, at least: 10 of 65, 86 of 600, 38 of 260.
    let ruins: usize =
        c.said.split(", ").find_map(|part| part.strip_suffix(" ruins")).unwrap().parse().unwrap();
    assert!(ruins >= 4 * (10 + 86 + 38), "{}", c.said);
    assert!(c.said.ends_with("equal"), "{}", c.said);
}

#[test]
fn one_other_environment_in_one_launch_is_named() {
    let play = [collect::Play { members: 1, markets: 1, envs: 70, decisions: 2 }];
    let plant = |env: &Environments| {
        let mut envs: Vec<Env> = env.read(Buffer::Envs)?;
        envs[66].account.cash += 1;
        Ok(env.write(Buffer::Envs, &envs)?)
    };
    let c = collect::compare_with(&Hopper::device(7), DType::Bf16, &play, &plant).unwrap();
    assert!(c.found.iter().any(|f| f.contains("environment 66, step 0")), "{c:#?}");
}
