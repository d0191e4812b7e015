//! The folder of one run.
//!
//! ```text
//! run.json          this is a run folder; size and SHA-256 of config.toml
//! config.toml       the resolved configuration
//! metrics.jsonl     one JSON value a line
//! checkpoints/
//!   epoch_000012/
//!     member_000003.safetensors    weights of the member with this stable id
//!     state.safetensors            the rest, where the save can be resumed from
//!     metrics.jsonl                a copy of the metrics up to here, beside a state
//!     save.json                    size and SHA-256 of these, and of the metrics up to here
//! finished.json     the run has come to its end; size and SHA-256 of the metrics
//! lock              held by the process that uses the run; the system frees it when that process ends
//! ```
//! Every file is written under a temporary name, made durable and renamed; a marker (the `.json` files) comes last, so
//! whatever a kill leaves is recognised: a folder without `save.json` never was a save.

mod marker;
mod metrics;
mod open;
mod peek;
mod save;
#[cfg(test)]
mod tests;

pub use peek::Peek;
pub use save::{Save, SaveWriter};

use crate::{
    CheckpointError, Result,
    disk::{Disk, names, parent},
};
use marker::{FinishedMarker, RunMarker};
use metrics::Metrics;
use serde_json::Value;
use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

/// Marker of a folder that is a run.
pub const RUN: &str = "run.json";
/// File of a run with its resolved configuration.
pub const CONFIG: &str = "config.toml";
/// File of a run with a line per epoch and member.
pub const METRICS: &str = "metrics.jsonl";
/// Folder of a run's saves.
pub const CHECKPOINTS: &str = "checkpoints";
/// Marker of a run that has come to its end.
pub const FINISHED: &str = "finished.json";
/// File of a folder that [`lock`] makes.
pub const LOCK: &str = "lock";

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It has no save: it starts from its configuration.
    Fresh,
    /// It goes on from a save.
    Resumable,
    /// It has come to its end; nothing more is written to it.
    Finished,
}

/// Which saves are kept. The newest state always is, and weights as long as their save's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The last so many states; at least one.
    pub states: usize,
    /// Weights of the last so many saves; of all where nothing is said.
    pub weights: Option<usize>,
}

impl Default for Retention {
    /// Two states, so that damage to the newest doesn't end the run, and all weights.
    fn default() -> Self {
        Retention { states: 2, weights: None }
    }
}

/// A run on disk, used by this process alone.
pub struct RunFolder {
    path: PathBuf,
    config: String,
    disk: Disk,
    metrics: Metrics,
    saves: Vec<Save>,
    status: Status,
    retention: Retention,
    notes: Vec<String>,
    /// Folder of a save that was begun and not committed.
    attempt: Option<PathBuf>,
    // Freed when dropped.
    _lock: File,
}

impl RunFolder {
    /// Refuses a folder in which [`RunFolder::create`] can't make a run, so that this is known before long work.
    ///
    /// # Errors
    /// A folder that holds a run or anything else, or that can't be read.
    pub fn check_free(path: &Path) -> Result<()> {
        refuse_occupied(path)
    }

    /// Makes a run in a new or empty folder.
    ///
    /// # Errors
    /// A folder that holds a run or anything else, a folder in use, or the disk's.
    pub fn create(path: &Path, config_text: &str) -> Result<Self> {
        Self::create_on(Disk::default(), path, config_text)
    }

    fn create_on(mut disk: Disk, path: &Path, config_text: &str) -> Result<Self> {
        refuse_occupied(path)?;
        std::fs::create_dir_all(path).map_err(|e| CheckpointError::io("create", path, e))?;
        let lock = lock(path)?;
        // Another process may have made a run here before the lock was taken.
        refuse_occupied(path)?;
        let config = disk.write_file(&path.join(CONFIG), |out| out.put(config_text.as_bytes()))?;
        disk.create_dir(&path.join(CHECKPOINTS))?;
        let metrics = Metrics::open(&mut disk, path.join(METRICS), Default::default())?;
        disk.sync_dir(path)?;
        marker::write(&mut disk, &path.join(RUN), &RunMarker::new(config))?;
        disk.sync_dir(parent(path))?;
        Ok(RunFolder {
            path: path.to_owned(),
            config: config_text.to_owned(),
            disk,
            metrics,
            saves: Vec::new(),
            status: Status::Fresh,
            retention: Retention::default(),
            notes: Vec::new(),
            attempt: None,
            _lock: lock,
        })
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text of `config.toml`.
    pub fn config(&self) -> &str {
        &self.config
    }

    /// How far it has come.
    pub fn status(&self) -> Status {
        self.status
    }

    /// What a person should be told about opening it: damage that was passed over. One line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Its complete saves, oldest first.
    pub fn saves(&self) -> &[Save] {
        &self.saves
    }

    /// Sets which saves are kept, from the next [`SaveWriter::commit`] on.
    pub fn set_retention(&mut self, retention: Retention) {
        self.retention = retention;
    }

    /// Appends a line to the metrics. It is durable with the next save.
    ///
    /// # Errors
    /// A finished run, or the disk's; the line is then not there.
    pub fn append_metrics(&mut self, value: &Value) -> Result<()> {
        self.refuse_finished()?;
        self.metrics.append(&mut self.disk, value)
    }

    /// Starts the save of an epoch. What is left of one that was not committed is removed.
    ///
    /// # Errors
    /// A finished run, an epoch that isn't newer than the last save, or the disk's.
    pub fn begin_save(&mut self, epoch: u64) -> Result<SaveWriter<'_>> {
        self.refuse_finished()?;
        if let Some(last) = self.saves.last().filter(|last| last.epoch() >= epoch) {
            return Err(CheckpointError::file(
                &self.path,
                format!("epoch {epoch} comes not after epoch {}, which is saved", last.epoch()),
                "save epochs in order",
            ));
        }
        let checkpoints = self.path.join(CHECKPOINTS);
        let folder = checkpoints.join(save::folder_name(epoch));
        if let Some(attempt) = self.attempt.clone().filter(|a| a.exists()) {
            self.disk.remove_dir(&attempt, save::MARKER)?;
        }
        self.disk.create_dir(&folder)?;
        self.attempt = Some(folder.clone());
        self.disk.sync_dir(&checkpoints)?;
        Ok(SaveWriter::new(self, epoch, folder))
    }

    /// Marks the run as finished, with the metrics written so far.
    ///
    /// # Errors
    /// The disk's.
    pub fn finish(&mut self) -> Result<()> {
        self.refuse_finished()?;
        // The last commit may have been stopped before it.
        self.retain()?;
        let metrics = self.metrics.mark(&mut self.disk)?;
        marker::write(&mut self.disk, &self.path.join(FINISHED), &FinishedMarker { metrics })?;
        self.status = Status::Finished;
        Ok(())
    }

    fn refuse_finished(&self) -> Result<()> {
        if self.status != Status::Finished {
            return Ok(());
        }
        Err(CheckpointError::file(&self.path, "this run is finished", "start a new run in another folder"))
    }

    /// Removes states and weights that retention doesn't keep, oldest first.
    fn retain(&mut self) -> Result<()> {
        let Retention { states, weights } = self.retention;
        let with_state: Vec<usize> =
            (0..self.saves.len()).filter(|i| self.saves[*i].state_path().is_some()).collect();
        let first_state = with_state.len().saturating_sub(states.max(1));
        for i in &with_state[..first_state] {
            self.saves[*i].forget_state(&mut self.disk)?;
            self.saves[*i].remove_forgotten(&mut self.disk)?;
        }
        let mut surplus = weights.map_or(0, |n| self.saves.len().saturating_sub(n.max(1)));
        let mut i = 0;
        while surplus > 0 {
            surplus -= 1;
            if self.saves[i].state_path().is_some() {
                i += 1;
                continue;
            }
            self.disk.remove_dir(self.saves[i].folder(), save::MARKER)?;
            self.saves.remove(i);
        }
        Ok(())
    }
}

/// Refuses a folder in which a run can't be made: anything but an empty one, or what a killed `create` leaves.
fn refuse_occupied(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let found = names(path)?;
    let has = |name: &str| found.iter().any(|f| f == name);
    if has(RUN) {
        return Err(CheckpointError::refused(
            path,
            "there is a run in this folder",
            "resume it, or choose another folder for a new one",
        ));
    }
    let ours = |f: &String| {
        [LOCK, CONFIG, METRICS, CHECKPOINTS].contains(&f.as_str())
            || [CONFIG, RUN].iter().any(|name| *f == format!("{name}.tmp"))
    };
    // The lock is the first file of a run: without it, a config.toml is somebody else's.
    if found.is_empty() || has(LOCK) && found.iter().all(ours) {
        return Ok(());
    }
    Err(CheckpointError::refused(
        path,
        format!("this folder is not empty and not a run (it holds {})", found[0]),
        "choose a new or empty folder",
    ))
}

/// Locks a folder: the file is the lock, which the system lets go of when the process ends, however it does.
///
/// # Errors
/// [`CheckpointError::Locked`] where another process holds it; the disk.
pub fn lock(path: &Path) -> Result<File> {
    let at = path.join(LOCK);
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&at)
        .map_err(|e| CheckpointError::io("create", &at, e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(CheckpointError::Locked { path: crate::error::shown(path) }),
        Err(TryLockError::Error(e)) => Err(CheckpointError::io("lock", &at, e)),
    }
}
