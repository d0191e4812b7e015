//! Training with weights as pairs, which is the default in BF16, as single words, and rounded to nearest: the same promises of all.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{devices, tiny, waves};
use foxhunt_core::{DType, Rounding, Weights};
use foxhunt_data::Bars;
use foxhunt_device::{Device, Isa};
use foxhunt_nn::PlanFault;
use foxhunt_train::{Config, Market, Trainer};

fn small(weights: Weights, rounding: Rounding) -> (Config, Bars) {
    let mut config = tiny();
    config.learn.collect = 256;
    config.learn.updates = 16;
    config.learn.weights = weights.into();
    config.learn.rounding = rounding;
    (config, waves(700))
}

/// What each member carries from epoch to epoch after two of them, in bytes.
fn run(device: &Device, config: &Config, bars: &Bars) -> Vec<Vec<u8>> {
    let market = Market::prepare(bars.clone(), config).unwrap();
    let mut trainer = Trainer::new(device, DType::Bf16, config, &market).unwrap();
    for _ in 0..2 {
        let reports = trainer.epoch().unwrap();
        assert!(reports.iter().all(|r| r.loss.is_some_and(f64::is_finite) && r.skipped == 0), "{reports:?}");
    }
    let mut out = vec![Vec::new(); config.population];
    for t in trainer.state() {
        let bytes = trainer.runtime().read_bytes(*t).unwrap();
        let one = bytes.len() / config.population;
        for (member, part) in out.iter_mut().zip(bytes.chunks(one)) {
            member.extend_from_slice(part);
        }
    }
    out
}

#[test]
fn members_are_their_own_and_builds_agree() {
    for (weights, rounding) in [
        (Weights::Paired, Rounding::Stochastic),
        (Weights::Plain, Rounding::Stochastic),
        (Weights::Plain, Rounding::Nearest),
        (Weights::Paired, Rounding::Nearest),
    ] {
        let (config, bars) = small(weights, rounding);
        let of = |ids: &[u64]| Config { population: ids.len(), members: ids.to_vec(), ..config.clone() };
        for device in devices() {
            let pair = run(&device, &of(&[0, 7]), &bars);
            assert!(pair[0] != pair[1], "{device}, {weights}, {rounding}");
            let alone = run(&device, &of(&[7]), &bars);
            assert!(alone[0] == pair[1], "{device}, {weights}, {rounding}: member 7 alone");
        }
        let [base, reversed] =
            [Isa::Base, Isa::Reversed].map(|isa| run(&Device::cpu_with(isa), &of(&[0, 7]), &bars));
        assert!(base == reversed, "{weights}, {rounding}: builds differ");
    }
}

/// The low words exist where weights are pairs, begin as the remainder of the initial weights, change, and are
/// part of the state.
#[test]
fn low_words_are_of_the_plan_and_of_the_state() {
    let (config, bars) = small(Weights::Paired, Rounding::Stochastic);
    let market = Market::prepare(bars, &config).unwrap();
    let device = Device::cpu();
    let mut trainer = Trainer::new(&device, DType::Bf16, &config, &market).unwrap();
    // The environments' commands lie outside the plan; of its own numbers all is well.
    let own = |f: &PlanFault| !matches!(f, PlanFault::Outside { command, .. } if command != "adamw_pair");
    assert_eq!(trainer.plan().faults().unwrap().iter().filter(|f| own(f)).count(), 0);
    let shown = trainer.plan().to_string();
    assert!(shown.contains("q.weight_low ") && shown.contains("q.target_low "), "{shown}");
    let (weight, low) = (trainer.net().weight, trainer.net().low.unwrap());
    assert!([low.weight, low.target].iter().all(|t| trainer.state().contains(t)));

    let value = |t: &Trainer| t.runtime().read_pair(weight, Some(low.weight)).unwrap();
    let seed = foxhunt_core::rng::member_seed(config.seed, 0);
    let initial = trainer.net().initial_image(seed);
    let off = |a: &[f32]| a.iter().zip(&initial).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off(&value(&trainer)) < 2e-6, "the pair holds what BF16 could not");
    trainer.epoch().unwrap();
    assert!(off(&value(&trainer)) > 1e-4, "training moves it");

    // What a configuration says that leaves the key out, and one that names single words.
    let has_low = |config: &Config, dtype| {
        let trainer = Trainer::new(&device, dtype, config, &market).unwrap();
        assert_eq!(trainer.net().low.is_some(), trainer.plan().to_string().contains("_low"));
        trainer.net().low.is_some()
    };
    assert_eq!(DType::ALL.map(|dtype| has_low(&tiny(), dtype)), DType::ALL.map(|d| d == DType::Bf16));
    let (plain, _) = small(Weights::Plain, Rounding::Stochastic);
    assert!(!has_low(&plain, DType::Bf16));
}

#[test]
fn f32_has_no_pairs_and_nothing_to_round() {
    let (config, bars) = small(Weights::Paired, Rounding::Stochastic);
    let market = Market::prepare(bars.clone(), &config).unwrap();
    let error = Trainer::new(&Device::cpu(), DType::F32, &config, &market).err().unwrap().to_string();
    assert!(error.contains("learn.weights") && error.contains("train in bf16"), "{error}");
    let state = |rounding| {
        let (config, _) = small(Weights::Plain, rounding);
        let mut trainer = Trainer::new(&Device::cpu(), DType::F32, &config, &market).unwrap();
        trainer.epoch().unwrap();
        trainer.runtime().read_bytes(trainer.net().weight).unwrap()
    };
    assert!(state(Rounding::Nearest) == state(Rounding::Stochastic));
}
