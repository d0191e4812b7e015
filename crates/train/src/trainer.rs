//! The loop: collect, learn, count.
//!
//! Everything that an epoch needs lives on the device; the host launches two programs (captured graphs on a GPU) and
//! reads a few counters at the end.

use crate::{Config, Explore, LearnStep, Market, TrainError, acting, error::in_plan};
use foxhunt_core::{DType, Weights, rng::member_seed};
use foxhunt_device::{Command, Device};
use foxhunt_env::{
    Buffer, Environments, FeatureId, MemberSpec, Shape, Tables, Tally, exploration, temperature,
};
use foxhunt_kernels::{
    fused::{ACTING_BLOCKS, DqnKernels, collects_fast},
    loss::{HeadShape, LossTotal},
    optim::{AdamSettings, Hyper, OptimiserState},
};
use foxhunt_nn::{
    Lowering, Net, Options, Plan, Runtime, Tensor,
    net::{BranchingQ, BranchingQConfig},
    op::{HeadSamples, Optimise},
};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// Actions of each branch: exposure, order type, urgency.
pub const ACTIONS: [usize; 3] = [9, 3, 3];

/// What one epoch showed of one member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochReport {
    /// Epoch, from 0.
    pub epoch: u32,
    /// The instrument's name, where several are listed and each has members of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub market: Option<String>,
    /// Member's number.
    pub member: usize,
    /// Member's id.
    pub id: u64,
    /// Mean loss of the epoch's samples; nothing where none was finite.
    pub loss: Option<f64>,
    /// Episodes that ended in the epoch.
    pub episodes: u64,
    /// Of those, ended by ruin.
    pub terminated: u64,
    /// Mean sum of an ended episode's log returns of equity; nothing where none ended.
    pub episode_return: Option<f64>,
    /// Scaled rewards beyond what 2^-20 holds in 32 bits, ±2,048.
    pub saturated: u64,
    /// Share of the epoch's samples whose target return, n-step return and discounted value of what follows, lies beyond
    /// ±[`v_max`](crate::NetworkConfig::v_max) before it is clipped; nothing where no loss was finite.
    pub edge_share: Option<f64>,
    /// Epsilon at the end of the epoch; 0 where the member draws from a softmax.
    pub epsilon: f64,
    /// Temperature of that softmax at the end of the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Optimiser steps taken since the start.
    pub steps: u64,
    /// Of those, skipped for a gradient that was not finite.
    pub skipped: u64,
}

/// A population in training.
pub struct Trainer {
    config: Config,
    runtime: Runtime,
    env: Rc<Environments>,
    plan: Plan,
    net: BranchingQ,
    optimiser: (Tensor, Tensor),
    total: Tensor,
    tally: Tensor,
    state: Vec<Tensor>,
    /// Of every environment, in a run of the program `collect`.
    decisions: usize,
    epoch: u32,
}

/// The network of a configuration.
pub fn network(config: &Config) -> BranchingQConfig {
    let n = &config.network;
    BranchingQConfig {
        inputs: n.inputs,
        trunk: n.trunk,
        stream: n.stream,
        head: HeadShape { actions: ACTIONS.into(), atoms: n.atoms, v_min: -n.v_max, v_max: n.v_max },
        trunk_gradient_scale: 1.0 / (ACTIONS.len() + 1) as f32,
        mixture: true,
    }
}

/// What the member with this id trains or is tested on: `window` are the rows whose closes it decides at and is marked at.
///
/// # Errors
/// Rules that can't be kept.
pub fn member_spec(
    config: &Config,
    market: &Market,
    features: FeatureId,
    window: std::ops::Range<usize>,
    id: u64,
) -> Result<MemberSpec, TrainError> {
    let l = &config.learn;
    let decisions = (l.explore_epochs * (l.collect / l.envs) as f64) as u32;
    // An observation's window may reach back before its first decision: rows that are known then.
    let first = (window.start + 1).saturating_sub(config.network.lookback);
    Ok(MemberSpec {
        seed: member_seed(config.seed, id),
        features,
        volatility_floor_e9: market.volatility_floor_e9,
        window: first..window.end,
        rules: market.rules.row()?,
        episode_bars: l.episode_bars,
        discount: l.gamma,
        n_step: l.n_step,
        exploration: match l.explore {
            Explore::Epsilon => exploration(l.explore_start, l.explore_end, decisions),
            Explore::Boltzmann => temperature(l.temperature_start, l.temperature_end, decisions),
        },
    })
}

/// The fused kernels that learn for this network on this device, if any. [`DqnKernels::Hopper`] act, too.
pub fn fused_kernels(config: &Config, device: &Device, dtype: DType, net: &BranchingQ) -> Option<DqnKernels> {
    let shape = net.fused_shape();
    match config.learn.step {
        LearnStep::Auto => DqnKernels::of(device, dtype, &shape),
        LearnStep::Mma => Some(DqnKernels::Mma).filter(|k| k.run_on(device, dtype, &shape)),
        LearnStep::Span => None,
    }
}

impl Trainer {
    /// A population on one market: [`Trainer::on`].
    ///
    /// # Errors
    /// As there.
    pub fn new(device: &Device, dtype: DType, config: &Config, market: &Market) -> Result<Self, TrainError> {
        Self::on(device, dtype, config, std::slice::from_ref(market))
    }

    /// Builds the plan, fills the tables and initialises every member. `markets` are those of [`Market::all`]: of each
    /// instrument each fold, whose members train on it, all in one population; what a member learns doesn't depend on the
    /// others. Where instruments share a policy, each member's environments are spread over its fold of all of them.
    ///
    /// # Errors
    /// Sizes that don't fit one another, another number of markets than of instruments and folds, or the device.
    pub fn on(
        device: &Device,
        dtype: DType,
        config: &Config,
        markets: &[Market],
    ) -> Result<Self, TrainError> {
        let l = &config.learn;
        let (instruments, folds) = (config.markets(), config.folds());
        let Some(market) = markets.first().filter(|_| markets.len() == instruments * folds) else {
            return Err(TrainError::Config {
                place: "data".into(),
                what: format!("{} markets for {instruments} instruments of {folds} folds", markets.len()),
            });
        };
        config.check_inputs(market.features.cols)?;
        let storage = config.storage(dtype);
        if dtype == DType::F32 && storage.weights == Weights::Paired {
            return Err(TrainError::Config {
                place: "learn.weights".into(),
                what: "pairs are of BF16 words, and this run is in F32, which needs none: train in bf16, or set it to \
                       auto"
                    .into(),
            });
        }
        if !storage.exists() {
            return Err(TrainError::Config {
                place: "learn.rounding".into(),
                what: format!(
                    "{} is of plain weights, and these are pairs: set learn.weights to plain or auto",
                    storage.rounding
                ),
            });
        }
        let mut tables = Tables::new(market.features.cols);
        let features: Vec<FeatureId> =
            markets.iter().map(|m| m.add_to(&mut tables)).collect::<Result<_, TrainError>>()?;
        let groups = config.groups();
        let spread = groups.first().map_or(1, |g| g.markets.len());
        let mut specs = Vec::new();
        for group in &groups {
            if group.ids.len() != config.population {
                return Err(TrainError::Config {
                    place: "members".into(),
                    what: format!("{} ids for a population of {}", group.ids.len(), config.population),
                });
            }
            for &id in &group.ids {
                for &number in &group.markets {
                    let (market, features) = (&markets[number], features[number]);
                    specs.push(member_spec(config, market, features, market.splits.train.clone(), id)?);
                }
            }
        }
        let members = specs.len() / spread;
        let shape = Shape {
            envs: l.envs,
            lookback: config.network.lookback,
            state: config.network.inputs,
            ring_rows: l.replay / l.envs,
            batch: l.batch,
        };
        let env = Rc::new(Environments::spread(device, dtype, shape, &tables, &specs, spread)?);

        let mut plan = Plan::new(dtype, members);
        plan.set_storage(storage);
        let external = |plan: &mut Plan, b: Buffer| plan.external(env.view(b), env.arena());
        let [envs, tally, observation, actions, ring, draws] =
            [Buffer::Envs, Buffer::Tally, Buffer::Observation, Buffer::Actions, Buffer::Ring, Buffer::Draws]
                .map(|b| external(&mut plan, b));
        let [indices, batch, batch_actions, samples] =
            [Buffer::Indices, Buffer::States, Buffer::BatchActions, Buffer::Samples]
                .map(|b| external(&mut plan, b));
        let optimiser = Optimise::state(&mut plan, "q");
        let net = BranchingQ::new(&mut plan, network(config));

        // Commands of the environments point into their own arena, so they can be made now.
        let fixed = |commands: Vec<Command>| move |_: &Lowering| Ok(commands.clone());
        plan.program("reset");
        plan.run_foreign("env.reset", &[], &[envs, tally], fixed(vec![env.reset()?]));

        plan.program("collect");
        let fused = fused_kernels(config, device, dtype, &net);
        let mut decisions = 1;
        let by_hopper = fused == Some(DqnKernels::Hopper);
        if by_hopper && l.explore == Explore::Epsilon && collects_fast(l.envs, members) {
            decisions = acting::decisions_of_a_launch(l.collect / l.envs);
            acting::collect_fused(&mut plan, &net, &env, decisions, [envs, ring, tally, actions]);
        } else {
            plan.run_foreign("env.observe", &[envs], &[observation], fixed(vec![env.observe()?]));
            match l.explore {
                Explore::Boltzmann => {
                    acting::boltzmann(&mut plan, &net, &env, (envs, observation, actions))?;
                    let step = fixed(vec![env.step()?]);
                    plan.run_foreign("env.step", &[envs, actions], &[envs, ring, tally], step);
                }
                Explore::Epsilon => {
                    let greedy = if by_hopper {
                        net.act_fused(&mut plan, "act", observation, ACTING_BLOCKS)?
                    } else {
                        net.act(&mut plan, "act", observation)?.1
                    };
                    let stepping = Rc::clone(&env);
                    plan.run_foreign("env.step", &[envs, greedy], &[envs, ring, tally, actions], move |cx| {
                        Ok(vec![stepping.step_greedy(cx.view(greedy)).map_err(in_plan)?])
                    });
                }
            }
        }

        plan.program("learn");
        let gathered = [indices, batch, batch_actions, samples, draws];
        plan.run_foreign(
            "replay.gather",
            &[envs, ring, draws],
            &gathered,
            fixed(env.gather_uniform()?.into()),
        );
        let head = HeadSamples { actions: batch_actions, outcome: samples };
        let (_, total) = match fused {
            Some(kernels) => net.learn_fused(&mut plan, kernels, batch, head, optimiser)?,
            None => net.learn(&mut plan, batch, head, optimiser)?,
        };
        let runtime = plan.compile(device, Options::default())?;

        let seeds: Vec<u64> = specs.iter().step_by(spread).map(|s| s.seed).collect();
        let settings = AdamSettings {
            learning_rate: l.learning_rate,
            learning_rate_end: l.learning_rate * l.learning_rate_end,
            learning_rate_steps: if l.learning_rate_end < 1.0 {
                u32::try_from(u64::from(config.epochs) * l.updates as u64).unwrap_or(u32::MAX)
            } else {
                0
            },
            beta1: l.beta1,
            beta2: l.beta2,
            epsilon: l.epsilon,
            weight_decay: l.weight_decay,
            clip: l.clip,
            tau: l.tau,
        };
        let hyper: Vec<Hyper> = seeds.iter().map(|seed| Hyper::new(&settings, *seed)).collect();
        runtime.write_raw(optimiser.1, &hyper)?;
        let image: Vec<f32> = seeds.iter().flat_map(|s| net.net.initial_image(*s)).collect();
        let low = net.net.low;
        runtime.write_pair(net.net.weight, low.map(|low| low.weight), &image)?;
        runtime.write_pair(net.net.target, low.map(|low| low.target), &image)?;
        runtime.run("reset", 1)?;

        let n = &net.net;
        let mut state = vec![n.weight, n.target, n.m, n.v, optimiser.0, envs, tally, ring, draws, total];
        state.extend(low.into_iter().flat_map(|low| [low.weight, low.target]));
        Ok(Trainer {
            config: config.clone(),
            runtime,
            env,
            plan,
            net,
            optimiser,
            total,
            tally,
            state,
            decisions,
            epoch: 0,
        })
    }

    /// One epoch for all members: [`Trainer::collect`], [`Trainer::learn`], [`Trainer::close_epoch`].
    ///
    /// # Errors
    /// The device's.
    pub fn epoch(&mut self) -> Result<Vec<EpochReport>, TrainError> {
        self.collect()?;
        self.learn()?;
        self.close_epoch()
    }

    /// The first part of an epoch: its transitions. Returns before a GPU is done.
    ///
    /// # Errors
    /// The device's.
    pub fn collect(&self) -> Result<(), TrainError> {
        let [(name, times), _] = self.programs();
        Ok(self.runtime.run(name, times)?)
    }

    /// The second part: its updates. Returns before a GPU is done.
    ///
    /// # Errors
    /// The device's.
    pub fn learn(&self) -> Result<(), TrainError> {
        let [_, (name, times)] = self.programs();
        Ok(self.runtime.run(name, times)?)
    }

    /// The third part: waits for the device, reads the epoch's counters and starts them anew.
    ///
    /// # Errors
    /// The device's.
    pub fn close_epoch(&mut self) -> Result<Vec<EpochReport>, TrainError> {
        self.runtime.device().synchronize()?;
        let reports = self.report()?;
        self.epoch += 1;
        Ok(reports)
    }

    /// Decisions of every environment in a run of the program `collect`: several where one launch takes them.
    pub fn decisions_of_a_run(&self) -> usize {
        self.decisions
    }

    /// The programs of an epoch in their order, and how often each runs.
    pub fn programs(&self) -> [(&'static str, u32); 2] {
        let l = &self.config.learn;
        [("collect", (l.collect / l.envs / self.decisions) as u32), ("learn", l.updates as u32)]
    }

    /// Reads the epoch's counters and starts them anew.
    fn report(&self) -> Result<Vec<EpochReport>, TrainError> {
        let members = self.plan.members();
        let totals = self.runtime.read_raw::<LossTotal>(self.total)?;
        let tallies = self.runtime.read_raw::<Tally>(self.tally)?;
        let counters = self.runtime.read_raw::<OptimiserState>(self.optimiser.0)?;
        self.runtime.write_raw(self.total, &vec![LossTotal::default(); members])?;
        self.runtime.write_raw(self.tally, &vec![Tally::default(); members])?;
        let ids = self.config.member_ids();
        let l = &self.config.learn;
        let per_epoch = (l.collect / l.envs) as f64;
        let progress = f64::from(self.epoch + 1) * per_epoch / (l.explore_epochs * per_epoch).max(1.0);
        let line = |start: f64, end: f64| start + (end - start) * progress.min(1.0);
        let (epsilon, temperature) = match l.explore {
            Explore::Epsilon => (line(l.explore_start, l.explore_end), None),
            Explore::Boltzmann => (0.0, Some(line(l.temperature_start, l.temperature_end))),
        };
        Ok((0..members)
            .map(|m| {
                let (t, tally) = (&totals[m], &tallies[m]);
                EpochReport {
                    epoch: self.epoch,
                    market: self.config.market_of_member(m).map(str::to_owned),
                    member: m,
                    id: ids[m],
                    loss: (t.rows > 0).then(|| t.loss_q32 as f64 / 4_294_967_296.0 / t.rows as f64),
                    episodes: tally.episodes,
                    terminated: tally.terminated,
                    episode_return: (tally.episodes > 0)
                        .then(|| tally.return_q20 as f64 / f64::from(1 << 20) / tally.episodes as f64),
                    saturated: tally.saturated,
                    edge_share: (t.rows > 0).then(|| t.edge as f64 / t.rows as f64),
                    epsilon,
                    temperature,
                    steps: counters[m].step,
                    skipped: counters[m].skipped,
                }
            })
            .collect())
    }

    /// Epochs done.
    pub fn epochs_done(&self) -> u32 {
        self.epoch
    }

    /// Continues after `epochs` epochs, once the state has been restored.
    pub fn set_epochs_done(&mut self, epochs: u32) {
        self.epoch = epochs;
    }

    /// The compiled plan, for whoever reads weights or state.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The network's parameters.
    pub fn net(&self) -> &Net {
        &self.net.net
    }

    /// The environments.
    pub fn environments(&self) -> &Environments {
        &self.env
    }

    /// All tensors that a bit-equal continuation needs.
    pub fn state(&self) -> &[Tensor] {
        &self.state
    }
}
