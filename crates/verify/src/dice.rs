//! Random actions, the same on every machine.

use foxhunt_core::rng::{Purpose, draw};
use foxhunt_market::BRANCH_ACTIONS;

/// The action that `seed` throws for environment `env` at `step`; each branch uniform.
pub(crate) fn throw(seed: u64, step: u64, env: u32) -> [u8; 3] {
    let words = draw(seed, step, 0, Purpose::Explore, env);
    let mut action = [0; 3];
    for ((a, word), n) in action.iter_mut().zip(words).zip(BRANCH_ACTIONS) {
        *a = ((u64::from(word) * n as u64) >> 32) as u8;
    }
    action
}

/// `steps` actions of one environment.
pub(crate) fn throws(seed: u64, steps: usize) -> Vec<[u8; 3]> {
    (0..steps as u64).map(|step| throw(seed, step, 0)).collect()
}
