//! The share of returns beyond the support of the value distribution.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{devices, tiny, waves};
use foxhunt_core::DType;
use foxhunt_env::{Buffer, Transition};
use foxhunt_train::{Market, Trainer};

#[test]
fn planted_rewards_give_their_share() {
    let config = tiny();
    let market = Market::prepare(waves(2_000), &config).unwrap();
    for device in devices() {
        for dtype in DType::ALL {
            let mut trainer = Trainer::new(&device, dtype, &config, &market).unwrap();
            let reports = trainer.epoch().unwrap();
            assert_eq!(reports[0].edge_share, Some(0.0), "{device}, {dtype}: the waves are small");

            // As many samples as the next epoch will take, of a replay whose every reward is far beyond the support.
            let ring: Vec<Transition> = trainer.environments().read(Buffer::Ring).unwrap();
            let mut planted = ring.clone();
            for (i, row) in planted.iter_mut().enumerate() {
                // The sign by environment: a return over several steps is of one sign.
                let sign = if i % config.learn.envs < 5 { -1 } else { 1 };
                row.scaled_q20 = sign * (50 << 20);
            }
            trainer.environments().write(Buffer::Ring, &planted).unwrap();
            trainer.runtime().run("learn", config.learn.updates as u32).unwrap();
            trainer.environments().write(Buffer::Ring, &ring).unwrap();
            let reports = trainer.epoch().unwrap();
            assert_eq!(reports[0].edge_share, Some(0.5), "{device}, {dtype}");
            // Counted anew each epoch.
            assert_eq!(trainer.epoch().unwrap()[0].edge_share, Some(0.0), "{device}, {dtype}");
        }
    }
}

/// The bounds are the configuration's: with a support far too narrow nearly all returns lie beyond it.
#[test]
fn a_narrow_support_shows() {
    let mut config = tiny();
    config.network.v_max = 0.01;
    let market = Market::prepare(waves(2_000), &config).unwrap();
    for device in devices() {
        for dtype in DType::ALL {
            let share = Trainer::new(&device, dtype, &config, &market).unwrap().epoch().unwrap()[0]
                .edge_share
                .unwrap();
            assert!((0.5..=1.0).contains(&share), "{device}, {dtype}: {share}");
        }
    }
}
