//! Training on a known market, and what it led to.

use crate::{KnownError, KnownMarket, Optimum};
use foxhunt_backtest::{Backtest, TestWindow};
use foxhunt_core::{
    DType,
    rng::{Purpose, below, draw, member_seed},
};
use foxhunt_device::Device;
use foxhunt_ledger::Ledger;
use foxhunt_train::{Config, Size, Trainer};
use std::time::Instant;

/// What a training came to on the test window.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The greedy policies' ledger.
    pub ledger: Ledger,
    /// Regret of each member, see [`Optimum::regret`].
    pub regrets: Vec<f64>,
    /// Epoch that was chosen of each member, from 0.
    pub chosen: Vec<u32>,
    /// Seconds that training took, with its choice of epochs.
    pub training_seconds: f64,
}

impl Learned {
    /// The middle regret; the mean of the middle two of an even number of members, infinity of none.
    pub fn median(&self) -> f64 {
        let mut sorted = self.regrets.clone();
        sorted.sort_by(f64::total_cmp);
        let (high, low) = (sorted.len() / 2, sorted.len().saturating_sub(1) / 2);
        match (sorted.get(low), sorted.get(high)) {
            (Some(low), Some(high)) => (low + high) / 2.0,
            _ => f64::INFINITY,
        }
    }
}

impl KnownMarket {
    /// A configuration that learns this market in seconds on a CPU: where tests of a component that learns begin.
    pub fn quick(&self, seed: u64) -> Config {
        let mut config = self.config(Config::of(Size::Small));
        (config.seed, config.population, config.epochs) = (seed, 3, 24);
        config.learn.batch = 256;
        config.network.trunk = [64, 64];
        config.network.stream = 32;
        // Returns of five bars, in units that make their standard deviation about 1.
        config.network.v_max = 4.0;
        let l = &mut config.learn;
        (l.gamma, l.n_step) = (0.8, 1);
        // Of three members on seed 1, the median regrets of mean reversion were 2.4 % after as many epochs at a constant rate
        // of 1e-3 with exploration to 0.05, 4.1 % falling from there with exploration to 0.1, and 1.5 % falling from twice as
        // much. Over 14 epochs no falling rate came near the constant one (8.2 % and more, to 6.1).
        (l.learning_rate, l.learning_rate_end, l.tau) = (2e-3, 0.02, 0.02);
        (l.explore_end, l.explore_epochs) = (0.1, 4.0);
        config
    }

    /// The same market to an agent that is told nothing: its features in an order that `seed` shuffles (Fisher and Yates, all
    /// rows together). States, prices and optimum stay.
    #[must_use]
    pub fn shuffled(mut self, seed: u64) -> Self {
        let key = member_seed(seed, u64::MAX);
        let features = &mut self.market.features;
        for i in (1..features.rows).rev() {
            let word = draw(key, 1, 0, Purpose::Sample, i as u32)[0];
            let j = below(word, i as u32 + 1) as usize;
            for c in 0..features.cols {
                features.values.swap(i * features.cols + c, j * features.cols + c);
            }
        }
        self
    }

    /// Trains all epochs of `config` (of [`KnownMarket::config`]) and tests, of each member, the epoch that earned most on the
    /// validation window, as a run does.
    ///
    /// # Errors
    /// Sizes that don't fit one another, or the device.
    pub fn learn(
        &self,
        device: &Device,
        dtype: DType,
        config: &Config,
        optimum: &Optimum,
    ) -> Result<Learned, KnownError> {
        let start = Instant::now();
        let ids = config.member_ids();
        let backtest = |window| Backtest::new(device, dtype, config, &self.market, window);
        let validation = backtest(TestWindow::validation(&self.market))?.compile(&ids)?;
        let mut trainer = Trainer::new(device, dtype, config, &self.market)?;
        let mut best = vec![(f64::NEG_INFINITY, 0); ids.len()];
        let mut images = Vec::new();
        for epoch in 0..config.epochs {
            trainer.epoch()?;
            let now: Vec<f32> = trainer.runtime().read(trainer.net().weight)?;
            let ends = validation.ends_of_images(&now)?;
            let size = now.len() / ids.len();
            if images.is_empty() {
                images.clone_from(&now);
            }
            for (m, (best, ends)) in best.iter_mut().zip(ends).enumerate() {
                let earned = ends.log_return();
                if earned > best.0 {
                    *best = (earned, epoch);
                    images[m * size..][..size].copy_from_slice(&now[m * size..][..size]);
                }
            }
        }
        let training_seconds = start.elapsed().as_secs_f64();
        let test = backtest(TestWindow::test(&self.market))?.with_trials(config.epochs);
        let ledger = test.agents_of_images(&ids, &images)?;
        let regrets = (0..ids.len()).map(|m| optimum.regret(&ledger, m as u32)).collect();
        Ok(Learned { ledger, regrets, chosen: best.iter().map(|b| b.1).collect(), training_seconds })
    }
}
