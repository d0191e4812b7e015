//! Every change that this crate makes to a disk, one step at a time, so that a test can stop it between any two.

use crate::{
    CheckpointError, Result,
    digest::{Digest, FileMark},
};
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

/// A change that is about to be made.
#[derive(Debug)]
#[cfg_attr(not(test), allow(dead_code, reason = "only a test's gate looks inside"))]
pub(crate) enum Step<'a> {
    CreateDir(&'a Path),
    /// An empty file, in place of one that may be there.
    Create(&'a Path),
    /// These bytes at the end.
    Append(&'a Path, &'a [u8]),
    Truncate(&'a Path, u64),
    Sync(&'a Path),
    SyncDir(&'a Path),
    Rename(&'a Path, &'a Path),
    Remove(&'a Path),
    RemoveDir(&'a Path),
}

/// Asked before each step; an error is taken for the system's.
pub(crate) type Gate = Box<dyn FnMut(&Step<'_>) -> io::Result<()> + Send>;

/// The disk.
#[derive(Default)]
pub(crate) struct Disk {
    gate: Option<Gate>,
}

/// Where a file is written before it is renamed.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    name.into()
}

impl Disk {
    #[cfg(test)]
    pub(crate) fn gated(gate: Gate) -> Self {
        Disk { gate: Some(gate) }
    }

    fn pass(&mut self, step: &Step<'_>) -> io::Result<()> {
        self.gate.as_mut().map_or(Ok(()), |gate| gate(step))
    }

    fn take<T>(
        &mut self,
        (doing, path): (&'static str, &Path),
        step: &Step<'_>,
        act: impl FnOnce() -> io::Result<T>,
    ) -> Result<T> {
        self.pass(step).and_then(|()| act()).map_err(|e| CheckpointError::io(doing, path, e))
    }

    /// A folder that may be there already; its parent must be.
    pub(crate) fn create_dir(&mut self, path: &Path) -> Result<()> {
        self.take(("create", path), &Step::CreateDir(path), || match fs::create_dir(path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            other => other,
        })
    }

    /// An empty file, in place of what a killed process may have left under this name.
    pub(crate) fn create(&mut self, path: &Path) -> Result<File> {
        self.take(("create", path), &Step::Create(path), || File::create(path))
    }

    pub(crate) fn append(&mut self, path: &Path, mut file: &File, data: &[u8]) -> Result<()> {
        self.take(("write", path), &Step::Append(path, data), || file.write_all(data))
    }

    pub(crate) fn truncate(&mut self, path: &Path, file: &File, bytes: u64) -> Result<()> {
        self.take(("shorten", path), &Step::Truncate(path, bytes), || file.set_len(bytes))
    }

    pub(crate) fn sync(&mut self, path: &Path, file: &File) -> Result<()> {
        // A unit test kills runs a thousand times, but never the machine.
        self.take(("write", path), &Step::Sync(path), || if cfg!(test) { Ok(()) } else { file.sync_all() })
    }

    /// Makes the names in a folder durable.
    pub(crate) fn sync_dir(&mut self, path: &Path) -> Result<()> {
        self.take(("write", path), &Step::SyncDir(path), || {
            // Elsewhere a folder can't be opened, and names are durable without.
            if !cfg!(unix) || cfg!(test) {
                return Ok(());
            }
            match File::open(path)?.sync_all() {
                // Some network and FUSE file systems know no such request: there is no more to ask of them.
                Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
                other => other,
            }
        })
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        self.take(("rename", from), &Step::Rename(from, to), || fs::rename(from, to))
    }

    /// A file, where it is there.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<()> {
        if !path.exists() {
            return Ok(());
        }
        self.take(("remove", path), &Step::Remove(path), || fs::remove_file(path))
    }

    /// A folder of files, `first` of them before the others.
    pub(crate) fn remove_dir(&mut self, path: &Path, first: &str) -> Result<()> {
        self.remove(&path.join(first))?;
        // Also where it is gone already: a kill may have come between the two.
        self.sync_dir(path)?;
        for file in names(path)? {
            self.remove(&path.join(file))?;
        }
        self.take(("remove", path), &Step::RemoveDir(path), || fs::remove_dir(path))?;
        self.sync_dir(parent(path))
    }

    /// Writes a file whole or not at all: under a temporary name in the same folder, made durable, renamed. The new
    /// name is durable after [`Disk::sync_dir`].
    pub(crate) fn write_file(
        &mut self,
        path: &Path,
        fill: impl FnOnce(&mut FileWriter<'_>) -> Result<()>,
    ) -> Result<FileMark> {
        let temporary = temporary(path);
        let written = self.write_temporary(&temporary, fill).and_then(|mark| {
            self.rename(&temporary, path)?;
            Ok(mark)
        });
        if written.is_err() {
            // Perhaps the disk is full. The first error is the one to tell.
            let _ = self.remove(&temporary);
        }
        written
    }

    fn write_temporary(
        &mut self,
        path: &Path,
        fill: impl FnOnce(&mut FileWriter<'_>) -> Result<()>,
    ) -> Result<FileMark> {
        let file = self.create(path)?;
        let mut writer = FileWriter { disk: self, path, file, digest: Digest::default(), buffer: Vec::new() };
        fill(&mut writer)?;
        writer.flush()?;
        let (file, mark) = (writer.file, writer.digest.mark());
        self.sync(path, &file)?;
        Ok(mark)
    }
}

/// A file being written.
pub(crate) struct FileWriter<'a> {
    disk: &'a mut Disk,
    path: &'a Path,
    file: File,
    digest: Digest,
    buffer: Vec<u8>,
}

/// Small writes are gathered up to this.
const BUFFER_BYTES: usize = 1 << 20;

impl FileWriter<'_> {
    pub(crate) fn put(&mut self, data: &[u8]) -> Result<()> {
        self.digest.add(data);
        if self.buffer.len() + data.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if data.len() > BUFFER_BYTES {
            return self.disk.append(self.path, &self.file, data);
        }
        self.buffer.extend_from_slice(data);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            self.disk.append(self.path, &self.file, &self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Names in a folder, sorted, so that what is done with them has one order.
pub(crate) fn names(path: &Path) -> Result<Vec<String>> {
    let failed = |e| CheckpointError::io("read", path, e);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The folder that a file lies in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}
