//! `setting.json` of a run: what beside the configuration decides its bytes. Written when the run is made.

use super::place;
use crate::Failure;
use foxhunt_core::DType;
use foxhunt_data::Bars;
use foxhunt_device::Device;
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
}

impl Setting {
    pub(crate) fn new(device: &Device, dtype: DType, bars: &Bars) -> Self {
        Setting {
            program: format!("foxhunt {}", env!("CARGO_PKG_VERSION")),
            device: device_name(device),
            dtype: dtype.name().to_owned(),
            data: file_name(&bars.source.path).to_owned(),
            data_sha256: bars.source.sha256.clone(),
            bars: bars.len(),
        }
    }

    pub(crate) fn write(&self, run: &Path) -> Result<(), Failure> {
        place::write_json(&run.join(SETTING), self)
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
        let setting: Setting = serde_json::from_str(&place::read(&path)?).map_err(|e| damaged(&e))?;
        setting.dtype().map_err(|e| damaged(&e))?;
        Ok(Some(setting))
    }

    pub(crate) fn dtype(&self) -> Result<DType, String> {
        self.dtype.parse()
    }

    /// Refuses bars that are not those that the run was begun on.
    pub(crate) fn check(&self, bars: &Bars) -> Result<(), Failure> {
        if self.data_sha256 == bars.source.sha256 && self.bars == bars.len() {
            return Ok(());
        }
        Err(Failure::Refused(format!(
            "{} is not the data that the run was begun on ({}, SHA-256 {}, {} bars): restore that file, or train anew",
            bars.source.path, self.data, self.data_sha256, self.bars
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
