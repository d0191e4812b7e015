//! Opening a run: what is whole is believed, what a kill left is removed.

use super::{
    CHECKPOINTS, CONFIG, FINISHED, METRICS, RUN, RunFolder, Save, Status, lock,
    marker::{self, FinishedMarker, Found, RunMarker},
    metrics::{self, Metrics},
    save::{MARKER, Scan, scan},
};
use crate::{
    CheckpointError, Result,
    digest::Digest,
    disk::{Disk, temporary},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

impl RunFolder {
    /// Opens a run and finds where it goes on: the newest save with a state, all of whose files are as they were
    /// written. Everything newer is removed and the metrics are cut back to that save, so that the resumed run writes
    /// what an uninterrupted one does. Of a finished run, returns the newest whole save and changes nothing.
    ///
    /// # Errors
    /// Not a run, a run in use, a changed configuration; saves of which none is whole; files that can't be read.
    pub fn open(path: &Path) -> Result<(Self, Option<Save>)> {
        Self::open_on(Disk::default(), path, false)
    }

    /// As [`RunFolder::open`], and a finished run as if it were not, whose end is to be done again. Its marker is removed once
    /// there is a save to go on from.
    ///
    /// # Errors
    /// As [`RunFolder::open`] of a run that is not finished.
    pub fn open_unfinished(path: &Path) -> Result<(Self, Option<Save>)> {
        Self::open_on(Disk::default(), path, true)
    }

    pub(super) fn open_on(mut disk: Disk, path: &Path, unfinished: bool) -> Result<(Self, Option<Save>)> {
        // First, so that no lock is made in a folder that is something else.
        read_run(path)?;
        let lock = lock(path)?;
        let config = read_config(path)?;
        let metrics_path = path.join(METRICS);
        let scan = scan(&path.join(CHECKPOINTS))?;
        let mut notes = Vec::new();
        let finished = if unfinished { None } else { read_finished(path, &mut notes)? };
        let status;
        let (digest, chosen, saves) = match finished {
            Some(digest) => {
                status = Status::Finished;
                let chosen = newest_whole(&scan, &mut notes)?;
                (digest, chosen, scan.saves)
            }
            None => {
                let chosen = newest_resumable(path, &scan, &mut notes)?;
                let (digest, chosen) = match chosen {
                    None => (Digest::default(), None),
                    Some((Whole::There(digest), save)) => (digest, Some(save)),
                    Some((Whole::Copy(copy), save)) => {
                        let bytes = save.metrics.bytes;
                        metrics::copy(&mut disk, &copy, bytes, &metrics_path)?;
                        (Digest::of_file(&metrics_path, bytes)?, Some(save))
                    }
                };
                status = if chosen.is_some() { Status::Resumable } else { Status::Fresh };
                let saves = remove_newer(&mut disk, path, scan, chosen.as_ref())?;
                (digest, chosen, saves)
            }
        };
        // What is built on from here must not be undone by a power cut: a kill may have come before these.
        if status != Status::Finished {
            for save in &saves {
                save.remove_forgotten(&mut disk)?;
            }
        }
        disk.sync_dir(&path.join(CHECKPOINTS))?;
        disk.sync_dir(path)?;
        let metrics = Metrics::open(&mut disk, metrics_path, digest)?;
        let folder = RunFolder {
            path: path.to_owned(),
            config,
            disk,
            metrics,
            saves,
            status,
            retention: Default::default(),
            notes,
            attempt: None,
            _lock: lock,
        };
        Ok((folder, chosen))
    }

    /// The configuration that a run was made with, whether or not another process uses it.
    ///
    /// # Errors
    /// Not a run, or a configuration that was changed since.
    pub fn read_config(path: &Path) -> Result<String> {
        read_config(path)
    }

    /// The complete saves of a run, oldest first, whether or not another process uses it; nothing is changed or
    /// checked (see [`Save::damage`]).
    ///
    /// # Errors
    /// Not a run, or files that can't be read.
    pub fn list_saves(path: &Path) -> Result<Vec<Save>> {
        read_run(path)?;
        Ok(scan(&path.join(CHECKPOINTS))?.saves)
    }
}

pub(super) fn read_run(path: &Path) -> Result<RunMarker> {
    let at = path.join(RUN);
    if path.is_file() {
        return Err(CheckpointError::file(
            path,
            "this is a file",
            "name the run's folder, which it may be in",
        ));
    }
    match marker::read::<RunMarker>(&at)? {
        Found::Marker(marker) => marker.check(&at).map(|()| marker),
        Found::Nothing if !path.exists() => {
            Err(CheckpointError::file(path, "there is no such folder", "check the path"))
        }
        Found::Nothing => Err(CheckpointError::file(
            path,
            format!("this is not a run folder: it has no {RUN}"),
            "check the path; if a run was stopped while its folder was made, start it anew there",
        )),
        Found::Damaged => Err(CheckpointError::file(
            &at,
            "not as foxhunt wrote it",
            "restore it from a copy or start a new run",
        )),
    }
}

pub(super) fn read_config(path: &Path) -> Result<String> {
    let marker = read_run(path)?;
    let at = path.join(CONFIG);
    let bytes = fs::read(&at).map_err(|e| CheckpointError::io("read", &at, e))?;
    match String::from_utf8(bytes) {
        Ok(text) if Digest::of(text.as_bytes()).mark() == marker.config => Ok(text),
        _ => Err(CheckpointError::refused(
            &at,
            "changed since the run was made",
            "undo the change, or start a new run with it in another folder",
        )),
    }
}

/// The metrics of a finished run, if it is finished and they are whole.
pub(super) fn read_finished(path: &Path, notes: &mut Vec<String>) -> Result<Option<Digest>> {
    let at = path.join(FINISHED);
    let digest = match marker::read::<FinishedMarker>(&at)? {
        Found::Nothing => return Ok(None),
        Found::Damaged => None,
        Found::Marker(m) => {
            let whole = fs::metadata(path.join(METRICS)).is_ok_and(|f| f.len() == m.metrics.bytes);
            if whole { metrics::prefix(&path.join(METRICS), &m.metrics)? } else { None }
        }
    };
    if digest.is_none() {
        notes.push(format!("{} or {METRICS} is damaged: the end of the run is done again", at.display()));
    }
    Ok(digest)
}

fn newest_whole(scan: &Scan, notes: &mut Vec<String>) -> Result<Option<Save>> {
    for save in scan.saves.iter().rev() {
        match save.damage()? {
            Some(damage) => notes.push(format!("the save of epoch {} is not used: {damage}", save.epoch())),
            None => return Ok(Some(save.clone())),
        }
    }
    Ok(None)
}

/// Where the metrics up to a save are as they were written.
enum Whole {
    /// In their place.
    There(Digest),
    /// In this copy alone.
    Copy(PathBuf),
}

/// The newest whole save with a state, and the metrics up to it. Nothing where the run never had one.
fn newest_resumable(path: &Path, scan: &Scan, notes: &mut Vec<String>) -> Result<Option<(Whole, Save)>> {
    for (epoch, folder) in &scan.damaged {
        notes.push(format!(
            "the save of epoch {epoch} is not used: {} is damaged",
            folder.join(MARKER).display()
        ));
    }
    let mut lost = !scan.damaged.is_empty();
    for save in scan.saves.iter().rev().filter(|s| s.wrote_state()) {
        let damage = match (save.damage()?, metrics::prefix(&path.join(METRICS), &save.metrics)?) {
            // Retention removes older states first: one that is missing before any that is there was lost.
            _ if save.state_path().is_none() => "its state is missing".to_owned(),
            (None, Some(digest)) => return Ok(Some((Whole::There(digest), save.clone()))),
            (Some(damage), _) => damage,
            (None, None) => match save.metrics_copy()? {
                Some(copy) => {
                    let what =
                        format!("{METRICS} is not as it was written: it is restored from {}", copy.display());
                    notes.push(what);
                    return Ok(Some((Whole::Copy(copy), save.clone())));
                }
                None => format!("{METRICS} is not as it was then"),
            },
        };
        notes.push(format!("the save of epoch {} is not used: {damage}", save.epoch()));
        lost = true;
    }
    // A kill can't do this: starting again from nothing, over what is left, is for a person to decide.
    if lost {
        let what = format!("no save of this run is whole ({})", notes.join("; "));
        return Err(CheckpointError::file(path, what, "restore the files from a copy or start a new run"));
    }
    Ok(None)
}

/// Removes what a kill left and what is newer than the save that the run goes on from; returns the saves that stay.
fn remove_newer(disk: &mut Disk, path: &Path, scan: Scan, chosen: Option<&Save>) -> Result<Vec<Save>> {
    let newer = |epoch: u64| chosen.is_none_or(|c| epoch > c.epoch());
    let finished = path.join(FINISHED);
    disk.remove(&finished)?;
    disk.remove(&temporary(&finished))?;
    let (gone, saves): (Vec<_>, Vec<_>) = scan.saves.into_iter().partition(|s| newer(s.epoch()));
    let damaged = scan.damaged.into_iter().filter(|(epoch, _)| newer(*epoch)).map(|(_, folder)| folder);
    let gone = gone.into_iter().rev().map(|s| s.folder().to_owned());
    // Those without a marker are what a kill left of a save, or of one that retention was removing.
    for folder in gone.chain(damaged).chain(scan.partial) {
        disk.remove_dir(&folder, MARKER)?;
    }
    Ok(saves)
}
