//! `bench backtest`: the greedy policies of a population through the same bars, each with one account, to a ledger on the
//! device. What the host makes of the ledger is not timed.

use crate::{
    BenchError, Machine, Network, Outcome, Rate, Timing, collect::picked, forward_operations, random_walk,
    work,
};
use foxhunt_backtest::{Agents, Backtest, TestWindow};
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_device::Device;
use foxhunt_env::{Buffer, Env};
use foxhunt_kernels::market::LedgerRow;
use foxhunt_market::{FillRow, MAX_FILLS};
use foxhunt_train::{Config, Market, network};
use serde::Serialize;

/// Bars beside those that are traded: features warm up, and what is left must fill three windows.
const SPARE_BARS: usize = 8_192;
/// An untrained policy pays costs at every bar: let it lose nearly all before it is ruined and stops.
const RUIN: f64 = 0.01;

/// One size of the benchmark.
#[derive(Clone, Copy, Debug)]
pub struct BacktestBench {
    /// Members, each with weights as they are drawn.
    pub members: usize,
    /// Decisions of each.
    pub bars: usize,
    /// Storage type.
    pub dtype: DType,
    /// Whose policy.
    pub network: Network,
    /// Timings, each of a whole backtest; the median is reported.
    pub repetitions: u32,
}

/// What one size took.
#[derive(Clone, Debug, Serialize)]
pub struct BacktestResult {
    /// Members.
    pub members: usize,
    /// Decisions of each.
    pub bars: usize,
    /// Storage type.
    pub dtype: String,
    /// Whose policy.
    pub network: Network,
    /// Time of a whole backtest.
    #[serde(flatten)]
    pub timing: Timing,
    /// Time of one bar of all members.
    pub us_per_bar: f64,
    /// Bars that were decided at, all members: fewer than asked for where an account was ruined, whose launches go on.
    pub decisions: u64,
    /// Those, per second.
    pub member_bars_per_s: f64,
    /// Work of a whole backtest, and its rates.
    #[serde(flatten)]
    pub rate: Rate,
}

impl BacktestBench {
    fn config(&self) -> Config {
        let mut config = self.network.config();
        config.population = self.members;
        (config.data.train_share, config.data.validation_share) = (0.98, 0.01);
        config.market.ruin = RUIN;
        config
    }

    /// Builds, warms up and times it on `device`.
    ///
    /// # Errors
    /// Bars beyond what a market has, or the device's.
    pub fn run(&self, device: &Device, machine: Option<&Machine>) -> Result<BacktestResult, BenchError> {
        if self.bars == 0 || self.members == 0 {
            return Err(BenchError::Size { option: "--bars", what: "there must be one at least".into() });
        }
        let config = self.config();
        let market = Market::prepare(random_walk(self.bars + SPARE_BARS), &config)?;
        let first = market.splits.train.start;
        let window = TestWindow { name: "bench".into(), rows: first..first + self.bars + 1 };
        let backtest = Backtest::new(device, self.dtype, &config, &market, window)?;
        let ids: Vec<u64> = (0..self.members as u64).collect();
        let agents = backtest.compile(&ids)?;
        let (runtime, net) = (agents.runtime(), agents.net());
        let image: Vec<f32> =
            ids.iter().flat_map(|id| net.initial_image(member_seed(config.seed, *id))).collect();
        runtime.write(net.weight, &image)?;

        let [begin, step, close] =
            [runtime.program("begin")?, runtime.program("step")?, runtime.program("close")?];
        let play = || {
            device.time(|| {
                begin.run(1)?;
                step.run(self.bars as u32)?;
                close.run(1)
            })
        };
        play()?;
        let times = (0..self.repetitions).map(|_| play()).collect::<Result<Vec<_>, _>>()?;
        let timing = Timing::of(times);
        let stands = agents.environments().read::<Env>(Buffer::Envs)?;
        let decisions: u64 = stands.iter().map(|s| u64::from(s.bar).saturating_sub(first as u64)).sum();
        let all = self.step_work(&agents, &config)?.times(self.bars as u64);
        Ok(BacktestResult {
            members: self.members,
            bars: self.bars,
            dtype: self.dtype.to_string(),
            network: self.network,
            timing,
            us_per_bar: timing.us / self.bars as f64,
            decisions,
            member_bars_per_s: decisions as f64 / timing.us.max(f64::MIN_POSITIVE) * 1e6,
            rate: Rate::new(all, timing.us, machine),
        })
    }

    /// Bytes and operations of one bar of all members.
    fn step_work(&self, agents: &Agents<'_>, config: &Config) -> Result<crate::Work, BenchError> {
        let features = agents.environments().view(Buffer::Features).ld;
        let mut all = picked(features, self.dtype, config.network.lookback, self.members).to_vec();
        all.push(("ledger.rows", (self.members * size_of::<LedgerRow>()) as u64));
        all.push(("ledger.fills", (self.members * MAX_FILLS * size_of::<FillRow>()) as u64));
        let operations = self.members as u64 * forward_operations(&network(config));
        Ok(work(agents.plan(), agents.runtime().program("step")?, &all, operations))
    }
}

impl Outcome for BacktestResult {
    const WORKLOAD: &'static str = "backtest";

    fn columns() -> Vec<(&'static str, usize)> {
        let own = [
            ("dtype", 5),
            ("network", 7),
            ("members", 7),
            ("bars", 7),
            ("ms", 9),
            ("us/bar", 8),
            ("M bars/s", 9),
        ];
        own.into_iter().chain(Rate::COLUMNS).collect()
    }

    fn cells(&self) -> Vec<String> {
        let own = [
            self.dtype.clone(),
            self.network.to_string(),
            self.members.to_string(),
            self.bars.to_string(),
            format!("{:.2}", self.timing.us / 1e3),
            format!("{:.2}", self.us_per_bar),
            format!("{:.3}", self.member_bars_per_s / 1e6),
        ];
        own.into_iter().chain(self.rate.cells()).collect()
    }
}
