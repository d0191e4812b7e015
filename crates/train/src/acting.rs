//! Acting by another rule than epsilon-greedy.

use crate::TrainError;
use foxhunt_device::Command;
use foxhunt_env::{Buffer, Environments};
use foxhunt_kernels::env::{EnvBoltzmann, env_boltzmann};
use foxhunt_nn::{Plan, Tensor, net::BranchingQ};

/// Adds to the program at hand: actions drawn from the softmax of each branch's values over the temperature.
pub(crate) fn boltzmann(
    plan: &mut Plan,
    net: &BranchingQ,
    env: &Environments,
    (envs, observation, actions): (Tensor, Tensor, Tensor),
) -> Result<(), TrainError> {
    let (gaps, _) = net.act_gaps(plan, "act", observation)?;
    let views =
        [Buffer::Envs, Buffer::Members, Buffer::Exploration, Buffer::Actions].map(|b| env.view(b).clone());
    plan.run_foreign("env.act", &[envs, gaps], &[actions], move |cx| {
        let [env, member, temperature, actions] = &views;
        let act = EnvBoltzmann { env, member, temperature, q: cx.view(gaps), actions };
        Ok(vec![Command::Launch(env_boltzmann(cx.dtype(), cx.members(), &act)?)])
    });
    Ok(())
}
