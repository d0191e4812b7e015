//! A save of a run: weights of each member, and the state.

use super::{
    METRICS, RunFolder,
    marker::{self, Found, SaveMarker},
};
use crate::disk::Disk;
use crate::{
    CheckpointError, Result,
    digest::{Digest, FileMark},
    disk::names,
    load_state, state, weights,
};
use foxhunt_nn::{Net, Runtime, Tensor};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

pub(crate) const MARKER: &str = "save.json";
const STATE: &str = "state.safetensors";

/// `epoch_000012`.
pub(crate) fn folder_name(epoch: u64) -> String {
    format!("epoch_{epoch:06}")
}

fn weights_name(member_id: u64) -> String {
    format!("member_{member_id:06}.safetensors")
}

/// The number in a name that this crate gives, and in no other.
fn number(name: &str, prefix: &str, suffix: &str, named: fn(u64) -> String) -> Option<u64> {
    let n = name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()?;
    (named(n) == name).then_some(n)
}

fn member_id(name: &str) -> Option<u64> {
    number(name, "member_", ".safetensors", weights_name)
}

/// A complete save: every file that its marker names was written.
#[derive(Clone, Debug)]
pub struct Save {
    epoch: u64,
    folder: PathBuf,
    pub(crate) metrics: FileMark,
    files: BTreeMap<String, FileMark>,
    has_state: bool,
}

impl Save {
    /// Epochs that were done when it was made.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The members whose weights it holds, by stable id.
    pub fn members(&self) -> impl Iterator<Item = u64> + '_ {
        self.files.keys().filter_map(|name| member_id(name))
    }

    /// The file of a member's weights.
    pub fn weights_path(&self, member_id: u64) -> PathBuf {
        self.folder.join(weights_name(member_id))
    }

    /// The file of the state; nothing where none was written or retention has removed it.
    pub fn state_path(&self) -> Option<PathBuf> {
        self.has_state.then(|| self.folder.join(STATE))
    }

    /// A member's weights, if their file is as it was written.
    ///
    /// # Errors
    /// A member that is not among [`Save::members`], a file that has changed, or as [`load_weights`](crate::load_weights).
    pub fn load_weights(&self, member_id: u64) -> Result<crate::NamedTensors> {
        let path = self.weights_path(member_id);
        let Some(mark) = self.files.get(&weights_name(member_id)) else {
            let what = format!("this save holds no weights of member {member_id}");
            return Err(CheckpointError::file(&self.folder, what, "name one of its members"));
        };
        // Read once: what is looked at is what is used.
        let bytes = fs::read(&path).map_err(|e| CheckpointError::io("read", &path, e))?;
        if Digest::of(&bytes).mark() != *mark {
            let what = "these weights are not as they were written";
            return Err(CheckpointError::file(&path, what, "restore the file from a copy, or train again"));
        }
        weights::from_bytes(&path, bytes)
    }

    /// The state, into a plan.
    ///
    /// # Errors
    /// A save without state, or as [`load_state`].
    pub fn load_state(&self, runtime: &Runtime, tensors: &[Tensor]) -> Result<Value> {
        match self.state_path() {
            Some(path) => load_state(&path, runtime, tensors),
            None => Err(CheckpointError::file(
                &self.folder,
                "this save holds weights, but no state to resume from",
                "resume from a newer save",
            )),
        }
    }

    /// The copy of the metrics up to here that lies beside the state, if it is as it was written.
    ///
    /// # Errors
    /// A file that can't be read.
    pub(crate) fn metrics_copy(&self) -> Result<Option<PathBuf>> {
        let path = self.folder.join(METRICS);
        let whole = self.files.get(METRICS) == Some(&self.metrics)
            && path.is_file()
            && as_written(&path, &self.metrics)?;
        Ok(whole.then_some(path))
    }

    /// What is wrong with its files, if anything is. The copy of the metrics is not looked at, for it may not be needed.
    ///
    /// # Errors
    /// Files that can't be read: they may be whole nevertheless.
    pub fn damage(&self) -> Result<Option<String>> {
        for (name, mark) in &self.files {
            if name == METRICS || name == STATE && !self.has_state {
                continue;
            }
            let path = self.folder.join(name);
            if !path.is_file() {
                return Ok(Some(format!("{} is missing", path.display())));
            }
            if !as_written(&path, mark)? {
                return Ok(Some(format!("{} is not as it was written", path.display())));
            }
        }
        Ok(None)
    }

    /// Whether a state is part of it.
    pub(crate) fn wrote_state(&self) -> bool {
        self.files.contains_key(STATE)
    }

    /// Makes the save one that never had a state: when states are written depends on the clock, and what a run leaves
    /// must not. The files that are no longer marked are to be removed next; [`RunFolder::open`] does where a kill
    /// comes between.
    pub(crate) fn forget_state(&mut self, disk: &mut Disk) -> Result<()> {
        self.has_state = false;
        self.files.remove(STATE);
        self.files.remove(METRICS);
        let marker =
            SaveMarker { epoch: self.epoch, metrics: self.metrics.clone(), files: self.files.clone() };
        marker::write(disk, &self.folder.join(MARKER), &marker)
    }

    /// Removes a state and a copy of metrics that aren't marked, and makes durable what was removed before.
    pub(crate) fn remove_forgotten(&self, disk: &mut Disk) -> Result<()> {
        // The marker that forgets them must not be undone by a power cut when they are gone.
        disk.sync_dir(&self.folder)?;
        let unmarked = [STATE, METRICS].into_iter().filter(|name| !self.files.contains_key(*name));
        let there: Vec<PathBuf> =
            unmarked.map(|name| self.folder.join(name)).filter(|p| p.exists()).collect();
        if there.is_empty() {
            return Ok(());
        }
        there.iter().try_for_each(|path| disk.remove(path))?;
        disk.sync_dir(&self.folder)
    }
}

fn as_written(path: &Path, mark: &FileMark) -> Result<bool> {
    // One byte more than marked, so that a file that has grown differs.
    Ok(Digest::of_file(path, mark.bytes.saturating_add(1))?.mark() == *mark)
}

/// What lies in the folder of saves.
#[derive(Default)]
pub(crate) struct Scan {
    /// Complete saves, oldest first.
    pub(crate) saves: Vec<Save>,
    /// Folders without a marker.
    pub(crate) partial: Vec<PathBuf>,
    /// Folders whose marker is damaged.
    pub(crate) damaged: Vec<(u64, PathBuf)>,
}

pub(crate) fn scan(checkpoints: &Path) -> Result<Scan> {
    let mut scan = Scan::default();
    for name in names(checkpoints)? {
        let folder = checkpoints.join(&name);
        let Some(epoch) = number(&name, "epoch_", "", folder_name) else { continue };
        match marker::read::<SaveMarker>(&folder.join(MARKER))? {
            Found::Nothing => scan.partial.push(folder),
            Found::Marker(m)
                if m.epoch == epoch
                    && m.files.keys().all(|f| f == STATE || f == METRICS || member_id(f).is_some()) =>
            {
                let has_state = m.files.contains_key(STATE) && folder.join(STATE).exists();
                scan.saves.push(Save { epoch, folder, metrics: m.metrics, files: m.files, has_state });
            }
            Found::Marker(_) | Found::Damaged => scan.damaged.push((epoch, folder)),
        }
    }
    // Names sort as numbers up to a million epochs only.
    scan.saves.sort_by_key(|s| s.epoch);
    Ok(scan)
}

/// A save being written. Nothing of it counts before [`SaveWriter::commit`].
#[must_use = "a save counts once it is committed"]
pub struct SaveWriter<'a> {
    run: &'a mut RunFolder,
    epoch: u64,
    folder: PathBuf,
    files: BTreeMap<String, FileMark>,
}

impl<'a> SaveWriter<'a> {
    pub(crate) fn new(run: &'a mut RunFolder, epoch: u64, folder: PathBuf) -> Self {
        SaveWriter { run, epoch, folder, files: BTreeMap::new() }
    }

    /// Writes the weights of the plan's member `member`, whose stable id is `member_id`.
    ///
    /// # Errors
    /// The device's, or the disk's.
    pub fn weights(&mut self, member_id: u64, runtime: &Runtime, net: &Net, member: usize) -> Result<()> {
        self.file(weights_name(member_id), |out, path| weights::write(out, path, runtime, net, member))
    }

    /// Writes the state: tensors of the plan, and the host's value.
    ///
    /// # Errors
    /// As [`crate::save_state`].
    pub fn state(&mut self, runtime: &Runtime, tensors: &[Tensor], host: &Value) -> Result<()> {
        self.file(STATE.to_owned(), |out, path| state::write(out, path, runtime, tensors, host))
    }

    fn file(
        &mut self,
        name: String,
        fill: impl FnOnce(&mut crate::disk::FileWriter<'_>, &Path) -> Result<()>,
    ) -> Result<()> {
        let path = self.folder.join(&name);
        let mark = self.run.disk.write_file(&path, |out| fill(out, &path))?;
        self.files.insert(name, mark);
        Ok(())
    }

    /// Makes the save count, with the metrics written so far, and removes what retention doesn't keep.
    ///
    /// # Errors
    /// The disk's. The save counts all the same if only removing failed.
    pub fn commit(self) -> Result<Save> {
        let SaveWriter { run, epoch, folder, mut files } = self;
        let metrics = run.metrics.mark(&mut run.disk)?;
        if files.contains_key(STATE) {
            let copy = run.metrics.copy_to(&mut run.disk, &folder.join(METRICS))?;
            files.insert(METRICS.to_owned(), copy);
        }
        run.disk.sync_dir(&folder)?;
        let marker = SaveMarker { epoch, metrics, files };
        marker::write(&mut run.disk, &folder.join(MARKER), &marker)?;
        let SaveMarker { metrics, files, .. } = marker;
        let has_state = files.contains_key(STATE);
        let save = Save { epoch, folder, metrics, files, has_state };
        run.saves.push(save.clone());
        run.attempt = None;
        run.retain()?;
        Ok(save)
    }
}
