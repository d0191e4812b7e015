//! The small files that say what is whole: written last, and believed only if every byte is as they would be written.

use crate::{CheckpointError, Result, digest::FileMark, disk::Disk};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeMap, fs, io::ErrorKind, path::Path};

/// Version of the folder's layout, in `run.json`; the other markers go with it.
const LAYOUT: u32 = 1;

/// `run.json`: this is a run folder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunMarker {
    foxhunt_run: u32,
    pub(crate) config: FileMark,
}

impl RunMarker {
    pub(crate) fn new(config: FileMark) -> Self {
        RunMarker { foxhunt_run: LAYOUT, config }
    }

    /// Whether this program knows the layout.
    pub(crate) fn check(&self, path: &Path) -> Result<()> {
        if self.foxhunt_run == LAYOUT {
            return Ok(());
        }
        Err(CheckpointError::file(
            path,
            format!("expected layout version {LAYOUT}, found {}", self.foxhunt_run),
            "use the foxhunt that wrote it",
        ))
    }
}

/// `save.json`: the files of a save are whole.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveMarker {
    pub(crate) epoch: u64,
    /// The metrics up to here.
    pub(crate) metrics: FileMark,
    pub(crate) files: BTreeMap<String, FileMark>,
}

/// `finished.json`: the run has come to its end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FinishedMarker {
    pub(crate) metrics: FileMark,
}

/// What is found in a marker's place.
pub(crate) enum Found<T> {
    /// A marker.
    Marker(T),
    /// No file.
    Nothing,
    /// A file, but not as this program writes it.
    Damaged,
}

fn render<T: Serialize>(marker: &T) -> Option<String> {
    serde_json::to_string_pretty(marker).ok().map(|text| text + "\n")
}

pub(crate) fn write<T: Serialize>(disk: &mut Disk, path: &Path, marker: &T) -> Result<()> {
    let Some(text) = render(marker) else {
        return Err(CheckpointError::file(path, "a marker can't be written as JSON", "report this"));
    };
    disk.write_file(path, |out| out.put(text.as_bytes()))?;
    disk.sync_dir(crate::disk::parent(path))
}

pub(crate) fn read<T: Serialize + DeserializeOwned>(path: &Path) -> Result<Found<T>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(e) => return Err(CheckpointError::io("read", path, e)),
    };
    Ok(match serde_json::from_slice::<T>(&bytes) {
        Ok(marker) if render(&marker).is_some_and(|text| text.as_bytes() == bytes) => Found::Marker(marker),
        _ => Found::Damaged,
    })
}
