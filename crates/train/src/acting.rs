//! Acting by another rule than epsilon-greedy.

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
