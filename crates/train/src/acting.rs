//! Acting by another rule than epsilon-greedy, and many decisions in one launch.

use crate::{TrainError, error::in_plan};
use foxhunt_env::Environments;
use foxhunt_nn::{Plan, Tensor, net::BranchingQ};
use std::rc::Rc;

/// Adds to the program at hand: actions drawn from the softmax of each branch's values over the temperature.
pub(crate) fn boltzmann(
    plan: &mut Plan,
    net: &BranchingQ,
    env: &Rc<Environments>,
    (envs, observation, actions): (Tensor, Tensor, Tensor),
) -> Result<(), TrainError> {
    let (gaps, _) = net.act_gaps(plan, "act", observation)?;
    let env = Rc::clone(env);
    plan.run_foreign("env.act", &[envs, gaps], &[actions], move |cx| {
        Ok(vec![env.act_boltzmann(cx.view(gaps)).map_err(in_plan)?])
    });
    Ok(())
}

/// Decisions that a launch takes at most: some tenths of a second of work at the largest sizes, so that a signal is heard soon.
const MOST_DECISIONS: usize = 1024;

/// The largest number of decisions that launches of an epoch, which takes `all`, may each take.
pub(crate) fn decisions_of_a_launch(all: usize) -> usize {
    (1..=MOST_DECISIONS.min(all)).rev().find(|d| all.is_multiple_of(*d)).unwrap_or(1)
}

/// Adds to the program at hand: `decisions` of every environment, epsilon-greedy around the network, in one launch.
pub(crate) fn collect_fused(
    plan: &mut Plan,
    net: &BranchingQ,
    env: &Rc<Environments>,
    decisions: usize,
    [envs, ring, tally, actions]: [Tensor; 4],
) {
    let (env, shape) = (Rc::clone(env), net.fused_shape());
    net.run_foreign(plan, "env.collect", (&[envs], &[envs, ring, tally, actions]), move |_, online, mean| {
        Ok(vec![env.collect(&shape, (online, mean), decisions).map_err(in_plan)?])
    });
}

#[cfg(test)]
mod tests {
    use super::decisions_of_a_launch;

    #[test]
    fn launches_take_equal_shares_of_an_epoch() {
        let taken = [1, 2, 40, 1024, 1025, 2048, 3000, 1031].map(decisions_of_a_launch);
        assert_eq!(taken, [1, 2, 40, 1024, 205, 1024, 1000, 1]);
    }
}
