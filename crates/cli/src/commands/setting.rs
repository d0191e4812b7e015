//! `setting.json` of a run: what beside the configuration decides its bytes. Written when the run is made.

use super::place;
use crate::Failure;
use foxhunt_checkpoint::{Unsealed, seal, unseal};
use foxhunt_core::DType;
use foxhunt_data::Bars;
use foxhunt_device::Device;
use foxhunt_train::{Config, Trainer};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// File of a run that says where and on what it was begun.
pub(crate) const SETTING: &str = "setting.json";

/// Where and on what a run was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setting {
    /// Program and version.
    pub(crate) program: String,
    /// The GPU's name, or CPU.
    pub(crate) device: String,
    /// How numbers are stored.
    pub(crate) dtype: String,
    /// The file of bars, without its folder.
    pub(crate) data: String,
    /// SHA-256 of its bytes as stored.
    pub(crate) data_sha256: String,
    /// Bars that were read from it.
    pub(crate) bars: usize,
    /// The same of each instrument, where several are listed: then the three above are their names, nothing and all bars.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) markets: Vec<MarketSetting>,
    /// The algorithm of each matrix product of training, which decides its bits; nothing on a CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) products: Vec<String>,
}

/// What one of several instruments was read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MarketSetting {
    /// Its name in the run.
    pub(crate) name: String,
    /// As [`Setting::data`].
    pub(crate) data: String,
    /// As [`Setting::data_sha256`].
    pub(crate) data_sha256: String,
    /// As [`Setting::bars`].
    pub(crate) bars: usize,
}

impl Setting {
    /// `bars` are those of each instrument of `config`, in its order; `trainer` trains on them in `dtype`.
    pub(crate) fn new(trainer: &Trainer, dtype: DType, config: &Config, bars: &[Bars]) -> Self {
        let device = trainer.runtime().device();
        let one = |(market, bars): (usize, &Bars)| MarketSetting {
            name: config.market_name(market).unwrap_or_default().to_owned(),
            data: file_name(&bars.source.path).to_owned(),
            data_sha256: bars.source.sha256.clone(),
            bars: bars.len(),
        };
        let mut markets: Vec<MarketSetting> = bars.iter().enumerate().map(one).collect();
        let (data, data_sha256) = match &mut markets[..] {
            [only] if !config.lists_markets() => (only.data.clone(), only.data_sha256.clone()),
            all => {
                let names: Vec<&str> = all.iter().map(|m| m.name.as_str()).collect();
                (names.join(", "), String::new())
            }
        };
        if !config.lists_markets() {
            markets.clear();
        }
        Setting {
            program: format!("foxhunt {}", env!("CARGO_PKG_VERSION")),
            device: device_name(device),
            dtype: dtype.name().to_owned(),
            data,
            data_sha256,
            bars: bars.iter().map(Bars::len).sum(),
            markets,
            products: trainer.runtime().gemm_record(),
        }
    }

    pub(crate) fn write(&self, run: &Path) -> Result<(), Failure> {
        place::write_whole(&run.join(SETTING), seal(&serde_json::to_string_pretty(self)?).as_bytes())
    }

    /// The setting of a run; nothing where it was stopped before it was written.
    pub(crate) fn read(run: &Path) -> Result<Option<Self>, Failure> {
        let path = run.join(SETTING);
        if !path.exists() {
            return Ok(None);
        }
        let damaged = |e: &dyn std::fmt::Display| {
            Failure::Unusable(format!("{} is damaged ({e}): restore it from a copy", path.display()))
        };
        let text = match unseal(&place::read(&path)?) {
            Unsealed::Whole(text) | Unsealed::Plain(text) => text,
            Unsealed::Damaged => return Err(damaged(&"it is not as it was written")),
        };
        let setting: Setting =
            serde_json::from_str(&text).map_err(|e| damaged(&foxhunt_core::plain_words(&e.to_string())))?;
        setting.dtype().map_err(|e| damaged(&e))?;
        Ok(Some(setting))
    }

    pub(crate) fn dtype(&self) -> Result<DType, String> {
        self.dtype.parse()
    }

    /// What is to be told where matrix products are now made in another way than when the run was begun: by another library, say.
    pub(crate) fn other_products(&self, now: &[String]) -> Option<String> {
        let known = !self.products.is_empty() && !now.is_empty();
        let (then, now) = self.products.iter().zip(now).find(|(then, now)| known && then != now)?;
        Some(format!(
            "matrix products are not made as when the run was begun (\"{then}\" is now \"{now}\"): it goes on, but not bit for bit"
        ))
    }

    /// Refuses bars that are not those that the run was begun on, of the instrument with this name where several are listed.
    pub(crate) fn check(&self, market: Option<&str>, bars: &Bars) -> Result<(), Failure> {
        let own = self.markets.iter().find(|m| Some(m.name.as_str()) == market);
        let (data, sha256, len) = match own {
            Some(m) => (&m.data, &m.data_sha256, m.bars),
            None => (&self.data, &self.data_sha256, self.bars),
        };
        if *sha256 == bars.source.sha256 && len == bars.len() {
            return Ok(());
        }
        Err(Failure::Refused(format!(
            "{} is not the data that the run was begun on ({data}, SHA-256 {sha256}, {len} bars): restore that file, train \
             anew, or, to act or to backtest on other bars, name them with --data",
            bars.source.path
        )))
    }
}

/// The device as a run records it: without the number of threads, which changes no bit.
pub(crate) fn device_name(device: &Device) -> String {
    device.cuda_info().map_or_else(|| "CPU".to_owned(), |info| info.name.clone())
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_recorded_where_there_is_a_choice() {
        let setting = |products: &[&str]| Setting {
            program: "foxhunt".into(),
            device: "NVIDIA H200".into(),
            dtype: "bf16".into(),
            data: "a.csv".into(),
            data_sha256: "00".into(),
            bars: 9,
            markets: Vec::new(),
            products: products.iter().map(|p| (*p).to_owned()).collect(),
        };
        let (none, some) =
            (setting(&[]), setting(&["learn: online.z1: algo 66", "learn: target.z1: algo 67"]));
        let folder = tempfile::tempdir().unwrap();
        for (setting, named) in [(&none, false), (&some, true)] {
            setting.write(folder.path()).unwrap();
            let text = std::fs::read_to_string(folder.path().join(SETTING)).unwrap();
            assert_eq!(text.contains("products"), named, "{text}");
            assert_eq!(Setting::read(folder.path()).unwrap().as_ref(), Some(setting));
        }
        let mut now = some.products.clone();
        assert_eq!(some.other_products(&now), None);
        now[1] = "learn: target.z1: algo 7".into();
        let told = some.other_products(&now).unwrap();
        assert!(
            told.contains("algo 67") && told.contains("algo 7\"") && told.ends_with("not bit for bit"),
            "{told}"
        );
        // On a CPU, or begun on one: what is another device is told elsewhere.
        assert_eq!((some.other_products(&[]), none.other_products(&now)), (None, None));
    }
}
