//! What all slices of a comparison must share.

use crate::{CompareError, Result};
use foxhunt_core::{Rounding, Weights};
use foxhunt_train::{Config, Market};
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
    /// Sharpe ratio per session day on the test window, by the weights that the validation window chose. More is better.
    Sharpe,
}

/// Everything that decides a member's numbers, beside the arm, the member's id and the kind of device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Layout of the files.
    pub format: u32,
    /// Program and version.
    pub program: String,
    /// What members are scored by.
    pub measure: Measure,
    /// The instrument.
    pub market: String,
    /// SHA-256 of the bars' file.
    pub data_sha256: String,
    /// Bars.
    pub bars: usize,
    /// Epochs between two evaluations.
    pub every: u32,
    /// The configuration, without what arms and slices decide: population, members, storage, and paths of files.
    pub config: Config,
}

/// Layout of the files that this version writes.
const FORMAT: u32 = 1;

impl Setting {
    /// The setting of a comparison.
    pub fn new(program: &str, config: &Config, market: &Market, measure: Measure, every: u32) -> Self {
        let mut config = config.clone();
        (config.population, config.members) = (1, Vec::new());
        (config.learn.weights, config.learn.rounding) = (Weights::default(), Rounding::default());
        config.data.files = Vec::new();
        Setting {
            format: FORMAT,
            program: program.to_owned(),
            measure,
            market: market.bars.instrument.name.clone(),
            data_sha256: market.bars.source.sha256.clone(),
            bars: market.bars.len(),
            every,
            config,
        }
    }

    /// SHA-256 of the setting, which every slice names.
    ///
    /// # Errors
    /// Numbers that JSON does not have.
    pub fn fingerprint(&self) -> Result<String> {
        let hash = Sha256::digest(serde_json::to_vec(self)?);
        Ok(hash.iter().map(|b| format!("{b:02x}")).collect())
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
