//! `bench collect`: a decision of every environment as a training run takes it. Observation, forward pass of the policy,
//! choice of actions with a tenth at random, the whole physics of a trade, and the transition into the replay.

use crate::{BenchError, Machine, Network, Outcome, Rate, Timing, forward_operations, random_walk, work};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_env::{Buffer, Transition};
use foxhunt_market::{Bar, Context};
use foxhunt_train::{Config, Market, Trainer, WeightsChoice, network};
use serde::Serialize;

/// Transitions that the replay holds at least, and rows at least: what is written must not stay in a cache.
const REPLAY: usize = 1 << 20;
const REPLAY_ROWS: usize = 16;
/// Share of actions at random, as in `bench/peers`.
const EXPLORE: f64 = 0.1;

/// One size of the benchmark.
#[derive(Clone, Copy, Debug)]
pub struct CollectBench {
    /// Environments of a member.
    pub envs: usize,
    /// Population members.
    pub population: usize,
    /// Storage type.
    pub dtype: DType,
    /// Whose policy.
    pub network: Network,
    /// Bars of the [`random_walk`] that is traded.
    pub bars: usize,
    /// Decisions of one timing.
    pub steps: u32,
    /// Timings; the median is reported.
    pub repetitions: u32,
}

/// What one size took.
#[derive(Clone, Debug, Serialize)]
pub struct CollectResult {
    /// Environments of a member.
    pub envs: usize,
    /// Population members.
    pub population: usize,
    /// Storage type.
    pub dtype: String,
    /// Whose policy.
    pub network: Network,
    /// Bars of the market.
    pub bars: usize,
    /// Time of a decision of all environments.
    #[serde(flatten)]
    pub timing: Timing,
    /// Decisions of environments of all members per second.
    pub env_steps_per_s: f64,
    /// Episodes that ended while it ran.
    pub episodes: u64,
    /// Work of a decision of all environments, and its rates.
    #[serde(flatten)]
    pub rate: Rate,
}

/// What a launch of the environments picks of the tables, for `count` environments or samples of `bars` bars each.
pub(crate) fn picked(
    trainer_features_ld: usize,
    dtype: DType,
    lookback: usize,
    count: usize,
) -> [(&'static str, u64); 3] {
    [
        (Buffer::Features.name(), (count * lookback * trainer_features_ld * dtype.bytes()) as u64),
        // The bar whose close is decided at, and the one that the decision meets.
        (Buffer::Bars.name(), (2 * count * size_of::<Bar>()) as u64),
        (Buffer::Context.name(), (2 * count * size_of::<Context>()) as u64),
    ]
}

/// Bytes and operations of one run of the program `collect` of a trainer, which takes
/// [`Trainer::decisions_of_a_run`] of all environments.
pub(crate) fn collect_work(
    trainer: &Trainer,
    config: &Config,
    dtype: DType,
) -> Result<crate::Work, BenchError> {
    let env = trainer.environments();
    let count = config.learn.envs * config.population * trainer.decisions_of_a_run();
    let features = env.view(Buffer::Features).ld;
    let mut all = picked(features, dtype, config.network.lookback, count).to_vec();
    // A row of the ring.
    all.push((Buffer::Ring.name(), (count * size_of::<Transition>()) as u64));
    let operations = count as u64 * forward_operations(&network(config));
    Ok(work(trainer.plan(), trainer.runtime().program("collect")?, &all, operations))
}

impl CollectBench {
    /// The run that collects so.
    pub fn config(&self) -> Config {
        let mut config = self.network.config();
        config.population = self.population;
        (config.data.train_share, config.data.validation_share) = (0.9, 0.05);
        let l = &mut config.learn;
        l.envs = self.envs;
        l.collect = self.envs * self.steps.max(1) as usize;
        l.replay = self.envs * REPLAY.div_ceil(self.envs).max(REPLAY_ROWS);
        // Nothing is learned.
        (l.batch, l.updates) = (64, 1);
        // A policy reads high words alone.
        l.weights = WeightsChoice::Plain;
        (l.explore_start, l.explore_end) = (EXPLORE, EXPLORE);
        config
    }

    /// Builds, warms up and times it on `device`.
    ///
    /// # Errors
    /// A market that is too short, or the device's.
    pub fn run(&self, device: &Device, machine: Option<&Machine>) -> Result<CollectResult, BenchError> {
        if self.envs == 0 || self.population == 0 {
            return Err(BenchError::Size { option: "--envs", what: "there must be one at least".into() });
        }
        let config = self.config();
        let market = Market::prepare(random_walk(self.bars), &config)?;
        let mut trainer = Trainer::new(device, self.dtype, &config, &market)?;
        let [(name, times), _] = trainer.programs();
        let program = trainer.runtime().program(name)?;
        program.run(times)?;
        let decisions = trainer.decisions_of_a_run();
        let us = program.time_us(times, self.repetitions)?;
        let timing = Timing::of(us.into_iter().map(|us| us / decisions as f64).collect());
        let work = collect_work(&trainer, &config, self.dtype)?.part(decisions as u64);
        let rate = Rate::new(work, timing.us, machine);
        let episodes = trainer.close_epoch()?.iter().map(|r| r.episodes).sum();
        Ok(CollectResult {
            envs: self.envs,
            population: self.population,
            dtype: self.dtype.to_string(),
            network: self.network,
            bars: self.bars,
            timing,
            env_steps_per_s: (self.envs * self.population) as f64 / timing.us.max(f64::MIN_POSITIVE) * 1e6,
            episodes,
            rate,
        })
    }
}

impl Outcome for CollectResult {
    const WORKLOAD: &'static str = "collect";

    fn columns() -> Vec<(&'static str, usize)> {
        let own = [
            ("dtype", 5),
            ("network", 7),
            ("E", 7),
            ("P", 4),
            ("us/step", 10),
            ("range", 19),
            ("M steps/s", 10),
        ];
        own.into_iter().chain(Rate::COLUMNS).collect()
    }

    fn cells(&self) -> Vec<String> {
        let own = [
            self.dtype.clone(),
            self.network.to_string(),
            self.envs.to_string(),
            self.population.to_string(),
            format!("{:.1}", self.timing.us),
            self.timing.range(),
            format!("{:.2}", self.env_steps_per_s / 1e6),
        ];
        own.into_iter().chain(self.rate.cells()).collect()
    }
}
