//! Which configurations make sense: the range of every number, and how numbers must fit one another.
//!
//! Ranges are what the device's integers and kernels hold, and no wider than a run could use: whatever passes can't
//! overflow, and rounds to no zero that would mean something else.

use super::{Config, Cost, FeaturesConfig, Size, markets, walk_forward};
use crate::TrainError;
use foxhunt_env::ACCOUNT_FEATURES;
use std::collections::BTreeSet;

/// A number of the configuration.
pub(super) struct Number {
    key: &'static str,
    value: f64,
    /// Whether 0 is allowed beside the range, with a meaning of its own.
    pub(super) or_zero: bool,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The range of a number, by its key.
pub(super) fn range(key: &str) -> Option<Number> {
    numbers(&Config::of(Size::Small)).into_iter().find(|n| n.key == key)
}

/// Whether a count is in the range of its key, so that it can be suggested.
fn may_be(key: &str, count: usize) -> bool {
    range(key).is_none_or(|r| (r.low..=r.high).contains(&(count as f64)))
}

impl Number {
    fn check(&self) -> Result<(), String> {
        // NaN is in no range.
        if (self.low..=self.high).contains(&self.value) || self.or_zero && self.value == 0.0 {
            return Ok(());
        }
        let zero = if self.or_zero { "0, or " } else { "" };
        let [value, low, high] = [self.value, self.low, self.high].map(shown);
        Err(format!("{} is {value}: it must be {zero}{low} to {high}", self.key))
    }
}

/// A number as a person writes it: no long rows of zeros.
pub(super) fn shown(x: f64) -> String {
    let plain = x == 0.0 || !x.is_finite() || (1e-4..1e16).contains(&x.abs());
    if plain { x.to_string() } else { format!("{x:e}") }
}

/// The first thing that is wrong, and what would be right.
pub(super) fn check(config: &Config) -> Result<(), String> {
    ranges(config)?;
    fit(config)
}

/// The first number that is out of its range.
pub(super) fn ranges(config: &Config) -> Result<(), String> {
    numbers(config).iter().try_for_each(Number::check)
}

/// Inputs of a network, at most: the device's integers hold more, and no run could use them.
const MOST_INPUTS: usize = 1 << 16;

impl Config {
    /// Refuses a network with fewer inputs than so many features of every bar in sight, and the account's, need.
    ///
    /// # Errors
    /// What is too few, and what would do.
    pub(crate) fn check_inputs(&self, features: usize) -> Result<(), TrainError> {
        let n = &self.network;
        let needed = n.lookback * features + ACCOUNT_FEATURES;
        if needed <= n.inputs {
            return Ok(());
        }
        let least = needed.next_multiple_of(64);
        let fix = match (MOST_INPUTS - ACCOUNT_FEATURES) / features {
            _ if least <= MOST_INPUTS => format!("use {least}, or a shorter network.lookback"),
            0 => format!("{MOST_INPUTS} are the most, so use fewer features"),
            most => format!(
                "{MOST_INPUTS} are the most, so use a network.lookback of up to {most}, or fewer features"
            ),
        };
        Err(TrainError::Config {
            place: "network.inputs".into(),
            what: format!(
                "{} inputs are too few for {} bars of {features} features and {ACCOUNT_FEATURES} of the account, together {needed}: \
                 {fix}",
                n.inputs, n.lookback
            ),
        })
    }
}

fn numbers(c: &Config) -> Vec<Number> {
    let number = |key, value: f64, low: f64, high: f64| Number { key, value, or_zero: false, low, high };
    let or_zero = |key, value: f64, low: f64, high: f64| Number { key, value, or_zero: true, low, high };
    let count =
        |key, value: usize, low: u32, high: u32| number(key, value as f64, f64::from(low), f64::from(high));
    // The instrument's own was in its range when that was read.
    let cost = |key, value: Cost, low, high| number(key, value.given().unwrap_or(0.0), low, high);
    let (d, n, l, m) = (&c.data, &c.network, &c.learn, &c.market);
    vec![
        count("population", c.population, 1, 4096),
        count("epochs", c.epochs as usize, 1, 1_000_000),
        or_zero("data.bar_seconds", d.bar_seconds as f64, 1.0, f64::from(u32::MAX)),
        number("data.train_share", d.train_share, 0.01, 0.99),
        number("data.validation_share", d.validation_share, 0.001, 0.99),
        count("data.walk_forward.folds", d.walk_forward.folds, 0, walk_forward::MAX_FOLDS),
        count("data.walk_forward.train_days", d.walk_forward.train_days as usize, 0, 100_000),
        count("data.walk_forward.validation_days", d.walk_forward.validation_days as usize, 0, 100_000),
        count("data.walk_forward.test_days", d.walk_forward.test_days as usize, 0, 100_000),
        number("data.walk_forward.purge_bars", d.walk_forward.purge_bars as f64, -1.0, 1_000_000.0),
        count("data.walk_forward.embargo_bars", d.walk_forward.embargo_bars, 0, 1_000_000),
        count("network.lookback", n.lookback, 1, 4096),
        count("network.inputs", n.inputs, 16, MOST_INPUTS as u32),
        // A layer norm and a softmax hold 4,096 columns.
        count("network.trunk[0]", n.trunk[0], 8, 4096),
        count("network.trunk[1]", n.trunk[1], 8, 4096),
        count("network.stream", n.stream, 32, 4096),
        count("network.atoms", n.atoms, 2, 64),
        number("network.v_max", f64::from(n.v_max), 0.01, 10_000.0),
        count("learn.envs", l.envs, 1, 1 << 20),
        count("learn.collect", l.collect, 1, 1 << 28),
        count("learn.updates", l.updates, 1, 1 << 24),
        count("learn.batch", l.batch, 1, 1 << 20),
        count("learn.replay", l.replay, 1, 1 << 28),
        count("learn.episode_bars", l.episode_bars, 1, 1 << 28),
        number("learn.gamma", l.gamma, 0.0001, 0.99999),
        count("learn.n_step", l.n_step, 1, 1024),
        // The device counts in 2^-40 and refuses nothing: below this a step is a handful of units.
        number("learn.learning_rate", l.learning_rate, 1e-9, 0.0039),
        number("learn.learning_rate_end", l.learning_rate_end, 0.0, 1.0),
        number("learn.beta1", l.beta1, 0.0, 0.999_999),
        number("learn.beta2", l.beta2, 0.0, 0.999_999),
        number("learn.epsilon", l.epsilon, 1e-18, 0.1),
        number("learn.weight_decay", l.weight_decay, 0.0, 0.99),
        // In 2^-16: a smaller one would round to 0, which is no clip.
        or_zero("learn.clip", l.clip, 0.0001, 65_535.0),
        number("learn.tau", l.tau, 1e-8, 1.0),
        number("learn.explore_start", l.explore_start, 0.0, 1.0),
        number("learn.explore_end", l.explore_end, 0.0, 1.0),
        // In 2^-24: a smaller one would be a few units, and 0 is no temperature.
        number("learn.temperature_start", l.temperature_start, 0.001, 100.0),
        number("learn.temperature_end", l.temperature_end, 0.001, 100.0),
        number("learn.explore_epochs", l.explore_epochs, 0.0, 1_000_000.0),
        or_zero("market.leverage", m.leverage, 0.01, 1000.0),
        number("market.band_bp", f64::from(m.band_bp), 0.0, 10_000.0),
        number("market.participation_cap", m.participation_cap, 0.0001, 1.0),
        number("market.ruin", m.ruin, 0.01, 0.9999),
        or_zero("market.stop_atr", m.stop_atr, 0.01, 1000.0),
        or_zero("market.start_cash", m.start_cash, 1.0, 9e9),
        // As an instrument's own may be.
        cost("market.half_spread_bp", m.half_spread_bp, 0.0, 1000.0),
        cost("market.taker_fee_bp", m.taker_fee_bp, -1000.0, 1000.0),
        cost("market.maker_fee_bp", m.maker_fee_bp, -1000.0, 1000.0),
        cost("market.financing_long_bp", m.financing_long_bp, -100_000.0, 100_000.0),
        cost("market.financing_short_bp", m.financing_short_bp, -100_000.0, 100_000.0),
    ]
}

fn fit(c: &Config) -> Result<(), String> {
    let must = |holds: bool, what: &dyn Fn() -> String| if holds { Ok(()) } else { Err(what()) };
    let (d, n, l) = (&c.data, &c.network, &c.learn);
    let distinct: BTreeSet<u64> = c.members.iter().copied().collect();
    must(c.members.is_empty() || distinct.len() == c.population && c.members.len() == c.population, &|| {
        "members must list `population` different ids, or be empty".into()
    })?;
    must(d.train_share + d.validation_share < 0.9999, &|| {
        format!(
            "data.train_share {} and data.validation_share {} must leave a share for the test window: lower one",
            d.train_share, d.validation_share
        )
    })?;
    d.moments()?;
    walk_forward::check(c)?;
    markets::check(c)?;
    must(c.features.columns.iter().all(|name| !name.trim().is_empty()), &|| {
        "features.columns: a column needs a name, as the file's header has it, or a number such as #7".into()
    })?;
    let features = if c.features.names.is_empty() { "features.set" } else { "features.names" };
    let computed = FeaturesConfig { columns: Vec::new(), ..c.features.clone() };
    computed.set().map_err(|e| format!("{features}: {e}"))?;
    c.features.set().map_err(|e| format!("features.columns: {e}"))?;
    must(n.inputs.is_multiple_of(8), &|| {
        format!(
            "network.inputs is {}: it must be a multiple of 8, such as {}",
            n.inputs,
            n.inputs.next_multiple_of(8)
        )
    })?;
    must(n.stream.is_multiple_of(32), &|| {
        format!(
            "network.stream is {}: it must be a multiple of 32, such as {}",
            n.stream,
            n.stream.next_multiple_of(32)
        )
    })?;
    for (key, value) in [("learn.collect", l.collect), ("learn.replay", l.replay)] {
        must(value.is_multiple_of(l.envs), &|| {
            let above = value.next_multiple_of(l.envs);
            let near = if may_be(key, above) { above } else { above - l.envs };
            format!("{key} is {value}: it must be a multiple of learn.envs ({}), such as {near}", l.envs)
        })?;
    }
    must(l.replay / l.envs >= l.n_step, &|| {
        let least = l.n_step * l.envs;
        let fix = match may_be("learn.replay", least) {
            true => format!("use at least {least}"),
            false => "lower learn.n_step or learn.envs".into(),
        };
        format!(
            "learn.replay is {}: it must hold learn.n_step ({}) transitions of each of the {} environments: {fix}",
            l.replay, l.n_step, l.envs
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a message says to use can be used.
    #[test]
    fn suggestions_are_in_their_ranges() {
        let config = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
            Config::resolve(None, None, &set)
        };
        let inputs = |lookback: usize| {
            let c = config(&[&format!("network.lookback={lookback}")]).unwrap();
            c.check_inputs(24).unwrap_err().to_string()
        };
        assert!(inputs(3).contains("together 85: use 128, or a shorter"), "{}", inputs(3));
        assert!(inputs(3000).contains("65536 are the most, so use a network.lookback of up to 2730"));
        let most = config(&["network.lookback=2730", "network.inputs=65536"]).unwrap();
        assert!(most.check_inputs(24).is_ok() && most.check_inputs(25).is_err());
        let none = Config::of(Size::Small).check_inputs(70_000).unwrap_err().to_string();
        assert!(none.contains("use fewer features"), "{none}");

        let refused = |set: &[&str]| config(set).unwrap_err().to_string();
        let near = refused(&["learn.envs=3", "learn.collect=268435456", "learn.replay=3072"]);
        assert!(near.contains("such as 268435455"), "{near}");
        let replay =
            ["learn.envs=1048576", "learn.n_step=1000", "learn.collect=1048576", "learn.replay=1048576"];
        assert!(refused(&replay).contains("lower learn.n_step or learn.envs"));
        let replay = refused(&["learn.envs=64", "learn.n_step=4", "learn.replay=128"]);
        assert!(replay.contains("use at least 256"), "{replay}");
    }
}
