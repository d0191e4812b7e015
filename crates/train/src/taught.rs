//! What members have from the bars that they were trained on.

use crate::Market;
use foxhunt_data::Instrument;
use foxhunt_features::Normaliser;
use serde::{Deserialize, Serialize};

/// All that other bars need of a market that members were trained on, so that they act where its bars are gone or have grown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taught {
    /// The file of its bars without its folder, for messages.
    pub data: String,
    /// Length of a bar, seconds.
    pub bar_seconds: i64,
    /// What was traded.
    pub instrument: Instrument,
    /// Mean and spread of each feature over the training window.
    pub normaliser: Normaliser,
    /// Least volatility of an episode, 1e-9.
    pub volatility_floor_e9: u32,
    /// Bars of a day.
    pub bars_per_day: f64,
    /// First and last close (ns) of the training and validation windows.
    pub closes_ns: [i64; 2],
}

impl Market {
    /// What its training window leaves. Its windows are those of [`Market::prepare`]: of the last fold where there are folds.
    pub fn taught(&self) -> Taught {
        let windows = self.splits.train.start..self.splits.validation.end;
        let closes_ns = match self.bars.close_ns.get(windows).unwrap_or_default() {
            [first, .., last] => [*first, *last],
            // Neither holds a bar: a span that nothing lies in.
            _ => [i64::MAX, i64::MIN],
        };
        let path = &self.bars.source.path;
        Taught {
            // Where it lay is another machine's affair.
            data: path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned(),
            bar_seconds: self.bars.source.bar_seconds,
            instrument: self.bars.instrument.clone(),
            normaliser: self.normaliser.clone(),
            volatility_floor_e9: self.volatility_floor_e9,
            bars_per_day: self.bars_per_day,
            closes_ns,
        }
    }
}
