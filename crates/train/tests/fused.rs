//! A training by the kernels of a Hopper GPU, in emulation.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::waves;
use foxhunt_core::DType;
use foxhunt_emulator::Hopper;
use foxhunt_env::{Buffer, Env};
use foxhunt_train::{Config, Market, Size, Trainer};

const DECISIONS: usize = 6;

fn trainer(seed: u64) -> Trainer {
    let mut config = Config::of(Size::Small);
    let l = &mut config.learn;
    (l.collect, l.updates, l.replay) = (DECISIONS * l.envs, 2, 16 * l.envs);
    let market = Market::prepare(waves(700), &config).unwrap();
    Trainer::new(&Hopper::device(seed), DType::Bf16, &config, &market).unwrap()
}

/// Collecting is one launch an epoch there, and epochs are what their programs make one after the other.
#[test]
fn an_epoch_collects_in_one_launch() {
    let (mut trainer, eager) = (trainer(1), trainer(2));
    assert_eq!(trainer.decisions_of_a_run(), DECISIONS);
    assert_eq!(trainer.programs(), [("collect", 1), ("learn", 2)]);
    for epoch in 1..=2 {
        let reports = trainer.epoch().unwrap();
        assert!(reports[0].loss.is_some_and(f64::is_finite) && reports[0].skipped == 0, "{reports:?}");
        for (name, times) in eager.programs() {
            let program = eager.runtime().program(name).unwrap();
            (0..times).for_each(|_| program.run_eager().unwrap());
        }
        let envs: Vec<Env> = trainer.environments().read(Buffer::Envs).unwrap();
        assert!(envs.iter().all(|e| e.step == epoch * DECISIONS as u64));
    }
    for t in trainer.state() {
        let name = &trainer.plan().info(*t).name;
        let [a, b] = [&trainer, &eager].map(|x| x.runtime().read_bytes(*t).unwrap());
        // An epoch starts its counters anew when it reports.
        assert!(["tally", "loss.total"].contains(&name.as_str()) || a == b, "{name}");
    }
}
