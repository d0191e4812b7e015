//! What all slices of a comparison must share.

use crate::{CompareError, Result};
use foxhunt_core::Rounding;
use foxhunt_train::{Config, Market, WeightsChoice};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// What a member is scored by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Distance from the optimal policy's value, the optimum's value being 1: of markets whose optimum is known, by the last
    /// epoch's weights. Less is better.
    Regret,
    /// Sharpe ratio per session day on the test window, by the weights that the validation window chose; the mean over
    /// instruments that share a policy. More is better.
    Sharpe,
}

/// Everything that decides a member's numbers, beside the arm, the member's id and the kind of device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Layout of the files.
    pub format: u32,
    /// Program, version and commit: kernels of another may train other bits.
    pub program: String,
    /// What members are scored by.
    pub measure: Measure,
    /// The instrument, or those that share a policy.
    pub market: String,
    /// SHA-256 of the bars' file; of several instruments that of theirs in a row.
    pub data_sha256: String,
    /// SHA-256 of all numbers of the rules that accounts live by, of each instrument in a row: a file of an instrument is told by
    /// its content.
    pub rules_sha256: String,
    /// Bars.
    pub bars: usize,
    /// Epochs between two evaluations.
    pub every: u32,
    /// The configuration, without what arms and slices decide: population, members, storage, and paths of files. Instruments are
    /// in `market` and `rules_sha256`.
    pub config: Config,
}

/// Layout of the files that this version writes.
const FORMAT: u32 = 1;

impl Setting {
    /// The setting of a comparison.
    pub fn new(program: &str, config: &Config, markets: &[Market], measure: Measure, every: u32) -> Self {
        let mut config = config.clone();
        (config.population, config.members) = (1, Vec::new());
        (config.learn.weights, config.learn.rounding) = (WeightsChoice::Plain, Rounding::Stochastic);
        config.data.files = Vec::new();
        config.data.instrument.clear();
        for market in &mut config.data.markets {
            market.files.clear();
            market.instrument.clear();
        }
        let of = |text: fn(&Market) -> &str| markets.iter().map(text).collect::<Vec<_>>();
        let hashes = of(|m| &m.bars.source.sha256);
        let data_sha256 = match hashes[..] {
            [one] => one.to_owned(),
            _ => hex(&Sha256::digest(hashes.concat())),
        };
        Setting {
            format: FORMAT,
            program: program.to_owned(),
            measure,
            market: of(|m| &m.bars.instrument.name).join(", "),
            data_sha256,
            rules_sha256: hex(&Sha256::digest(
                markets.iter().map(|m| format!("{:?}", m.rules)).collect::<String>(),
            )),
            bars: markets.iter().map(|m| m.bars.len()).sum(),
            every,
            config,
        }
    }

    /// SHA-256 of the setting, which every slice names.
    ///
    /// # Errors
    /// Numbers that JSON does not have.
    pub fn fingerprint(&self) -> Result<String> {
        Ok(hex(&Sha256::digest(serde_json::to_vec(self)?)))
    }

    /// The first key in which another setting, as read from a file, differs: `learn.gamma is 0.9, and here 0.99`.
    ///
    /// # Errors
    /// As [`Setting::fingerprint`].
    pub(crate) fn difference(&self, other: &Value) -> Result<Option<String>> {
        let own: Value = serde_json::from_slice(&serde_json::to_vec(self)?).map_err(CompareError::from)?;
        Ok(first_difference("", other, &own))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn first_difference(place: &str, there: &Value, here: &Value) -> Option<String> {
    match (there, here) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                first_difference(&place, &of(a), &of(b))
            })
        }
        _ if there == here => None,
        _ => Some(format!("{} is {there}, and here {here}", place.strip_prefix("config.").unwrap_or(place))),
    }
}
