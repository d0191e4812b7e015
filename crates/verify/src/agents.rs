use crate::VerifyError;
use foxhunt_backtest::Backtest;
use foxhunt_core::rng::member_seed;
use foxhunt_ledger::Ledger;
use foxhunt_nn::{Net, Runtime};
use foxhunt_train::Config;

/// What puts weights into a plan.
type Fill<'a> = Box<dyn Fn(&Runtime, &Net) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + 'a>;

/// Members whose greedy policy a check runs, several times over.
pub struct Agents<'a> {
    ids: Vec<u64>,
    fill: Fill<'a>,
}

impl<'a> Agents<'a> {
    /// Members with the ids `ids`; `fill` puts their weights, in this order, into [`Net::weight`].
    pub fn new(
        ids: Vec<u64>,
        fill: impl Fn(&Runtime, &Net) -> Result<(), Box<dyn std::error::Error + Send + Sync>> + 'a,
    ) -> Self {
        Agents { ids, fill: Box::new(fill) }
    }

    /// The first two members of a configuration as they are before training.
    pub fn fresh(config: &Config) -> Self {
        let ids = vec![0, 1];
        let seeds: Vec<u64> = ids.iter().map(|&id| member_seed(config.seed, id)).collect();
        Agents::new(ids, move |runtime, net| {
            let image: Vec<f32> = seeds.iter().flat_map(|s| net.initial_image(*s)).collect();
            Ok(runtime.write(net.weight, &image)?)
        })
    }

    pub(crate) fn run(&self, backtest: &Backtest<'_>) -> Result<Ledger, VerifyError> {
        Ok(backtest.agents(&self.ids, &self.fill)?)
    }
}
