//! `metrics.jsonl`: one JSON value a line, cut back to a save when a run resumes from it.

use crate::{
    CheckpointError, Result,
    digest::{Digest, FileMark},
    disk::Disk,
};
use serde_json::Value;
use std::{
    fs::{File, OpenOptions},
    io::Read as _,
    path::{Path, PathBuf},
};

pub(crate) struct Metrics {
    path: PathBuf,
    file: File,
    digest: Digest,
    /// A line was perhaps written in part: it is cut off before the next.
    torn: bool,
}

impl Metrics {
    /// Opens the file (made if it isn't there) whose first bytes are those of `digest`; what comes after is cut off.
    pub(crate) fn open(disk: &mut Disk, path: PathBuf, digest: Digest) -> Result<Self> {
        let failed = |e| CheckpointError::io("write", &path, e);
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() != digest.bytes() {
            disk.truncate(&path, &file, digest.bytes())?;
        }
        Ok(Metrics { path, file, digest, torn: false })
    }

    pub(crate) fn append(&mut self, disk: &mut Disk, value: &Value) -> Result<()> {
        if self.torn {
            disk.truncate(&self.path, &self.file, self.digest.bytes())?;
        }
        let line = format!("{value}\n");
        self.torn = true;
        disk.append(&self.path, &self.file, line.as_bytes())?;
        self.torn = false;
        self.digest.add(line.as_bytes());
        Ok(())
    }

    /// Makes all lines durable and says what they are.
    pub(crate) fn mark(&mut self, disk: &mut Disk) -> Result<FileMark> {
        if self.torn {
            disk.truncate(&self.path, &self.file, self.digest.bytes())?;
            self.torn = false;
        }
        disk.sync(&self.path, &self.file)?;
        Ok(self.digest.mark())
    }
}

impl Metrics {
    /// Copies all lines to another file, whole or not at all.
    pub(crate) fn copy_to(&self, disk: &mut Disk, path: &Path) -> Result<FileMark> {
        copy(disk, &self.path, self.digest.bytes(), path)
    }
}

/// Copies the first `bytes` bytes of a file to another, whole or not at all.
pub(crate) fn copy(disk: &mut Disk, from: &Path, bytes: u64, to: &Path) -> Result<FileMark> {
    let failed = |e| CheckpointError::io("read", from, e);
    let mut file = File::open(from).map_err(failed)?.take(bytes);
    disk.write_file(to, |out| {
        let mut piece = vec![0; 1 << 18];
        loop {
            match file.read(&mut piece).map_err(failed)? {
                0 => return Ok(()),
                n => out.put(&piece[..n])?,
            }
        }
    })
}

/// The digest of the file's first bytes, if they are those of `mark`.
pub(crate) fn prefix(path: &Path, mark: &FileMark) -> Result<Option<Digest>> {
    let digest = match Digest::of_file(path, mark.bytes) {
        Err(CheckpointError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Digest::default()
        }
        other => other?,
    };
    Ok((digest.mark() == *mark).then_some(digest))
}
