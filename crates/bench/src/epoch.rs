//! `bench epoch`: an epoch as the trainer takes it, collecting and learning, and what each takes of it.

use crate::{
    BenchError, Machine, Outcome, Rate, Timing, Work,
    collect::{collect_work, picked},
    learn_operations, random_walk, work,
};
use foxhunt_core::{DType, Weights};
use foxhunt_device::Device;
use foxhunt_env::{Buffer, Transition};
use foxhunt_train::{Config, Market, Trainer, network};
use serde::Serialize;
use std::time::Instant;

/// One size of the benchmark.
#[derive(Clone, Debug)]
pub struct EpochBench {
    /// What the size is called.
    pub size: String,
    /// The run.
    pub config: Config,
    /// Storage type.
    pub dtype: DType,
    /// Bars of the [`random_walk`] that is traded.
    pub bars: usize,
    /// Epochs that are timed, after one that is not; the median is reported.
    pub repetitions: u32,
}

/// What one size took.
#[derive(Clone, Debug, Serialize)]
pub struct EpochResult {
    /// What the size is called.
    pub size: String,
    /// Population members.
    pub population: usize,
    /// Storage type.
    pub dtype: String,
    /// How weights and targets are stored.
    pub weights: Weights,
    /// Transitions that an epoch collects, a member.
    pub transitions: usize,
    /// Updates of an epoch, and samples of each.
    pub updates: (usize, usize),
    /// Time of an epoch by the host's clock, all members; the counters' reading is part of it.
    #[serde(flatten)]
    pub timing: Timing,
    /// Seconds of an epoch.
    pub seconds: f64,
    /// Of these, collecting.
    pub collect_seconds: f64,
    /// Of these, learning.
    pub learn_seconds: f64,
    /// Work of an epoch, and its rates.
    #[serde(flatten)]
    pub rate: Rate,
}

/// Bytes and operations of one update of all members of a trainer.
fn learn_work(trainer: &Trainer, config: &Config, dtype: DType) -> Result<Work, BenchError> {
    let env = trainer.environments();
    let samples = config.learn.batch * config.population;
    let features = env.view(Buffer::Features).ld;
    // s and s' of each sample are rebuilt from the tables, and its return from the rows of n decisions and the one after.
    let mut all = picked(features, dtype, config.network.lookback, 2 * samples).to_vec();
    let rows = samples * (config.learn.n_step + 1);
    all.push((Buffer::Ring.name(), (rows * size_of::<Transition>()) as u64));
    let operations = samples as u64 * learn_operations(&network(config));
    Ok(work(trainer.plan(), trainer.runtime().program("learn")?, &all, operations))
}

impl EpochBench {
    /// Builds it on `device`, takes one epoch and times the next.
    ///
    /// # Errors
    /// A configuration or a market that doesn't fit, or the device's.
    pub fn run(&self, device: &Device, machine: Option<&Machine>) -> Result<EpochResult, BenchError> {
        let (config, l) = (&self.config, &self.config.learn);
        let market = Market::prepare(random_walk(self.bars), config)?;
        let mut trainer = Trainer::new(device, self.dtype, config, &market)?;
        trainer.epoch()?;
        let (mut whole, mut collect, mut learn) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.repetitions {
            let start = Instant::now();
            let us = || start.elapsed().as_secs_f64() * 1e6;
            trainer.collect()?;
            // What an epoch does not do, for the split: some microseconds.
            device.synchronize()?;
            let collected = us();
            trainer.learn()?;
            device.synchronize()?;
            let learned = us();
            trainer.close_epoch()?;
            whole.push(us());
            collect.push(collected);
            learn.push(learned - collected);
        }
        let timing = Timing::of(whole);
        let [collects, learns] = trainer.programs().map(|(_, times)| u64::from(times));
        let all = collect_work(&trainer, config, self.dtype)?.times(collects)
            + learn_work(&trainer, config, self.dtype)?.times(learns);
        Ok(EpochResult {
            size: self.size.clone(),
            population: config.population,
            dtype: self.dtype.to_string(),
            weights: config.storage(self.dtype).weights,
            transitions: l.collect,
            updates: (l.updates, l.batch),
            timing,
            seconds: timing.us / 1e6,
            collect_seconds: Timing::of(collect).us / 1e6,
            learn_seconds: Timing::of(learn).us / 1e6,
            rate: Rate::new(all, timing.us, machine),
        })
    }
}

impl Outcome for EpochResult {
    const WORKLOAD: &'static str = "epoch";

    fn columns() -> Vec<(&'static str, usize)> {
        let own = [
            ("dtype", 5),
            ("weights", 7),
            ("size", 6),
            ("P", 4),
            ("s/epoch", 9),
            ("collect s", 9),
            ("learn s", 9),
            ("range s", 15),
        ];
        own.into_iter().chain(Rate::COLUMNS).collect()
    }

    fn cells(&self) -> Vec<String> {
        let (low, high) = self.timing.us_range;
        let own = [
            self.dtype.clone(),
            self.weights.to_string(),
            self.size.clone(),
            self.population.to_string(),
            format!("{:.4}", self.seconds),
            format!("{:.4}", self.collect_seconds),
            format!("{:.4}", self.learn_seconds),
            format!("{:.3}..{:.3}", low / 1e6, high / 1e6),
        ];
        own.into_iter().chain(self.rate.cells()).collect()
    }
}
