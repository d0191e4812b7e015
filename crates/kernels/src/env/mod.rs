//! The batched environment and its replay: reset, observe, act, step, sample, gather; and its backtest.

mod env_act;
mod env_backtest;
mod env_boltzmann;
mod env_observe;
mod env_step;
mod observation;
mod replay;
mod types;

pub use env_act::{EnvAct, env_act_greedy, env_act_q};
pub use env_backtest::{
    EnvBacktest, EnvBacktestActions, env_backtest, env_backtest_actions, env_backtest_begin,
    env_backtest_close,
};
pub use env_boltzmann::{EnvBoltzmann, env_boltzmann};
pub use env_observe::env_observe;
pub use env_step::{EnvStep, env_reset, env_step, env_step_greedy};
pub use observation::Tables;
pub use replay::{ReplayGather, replay_advance, replay_gather};
pub use types::{ACCOUNT_FEATURES, Context, Env, EnvMember, Exploration, Sample, Summary, Tally, Transition};
