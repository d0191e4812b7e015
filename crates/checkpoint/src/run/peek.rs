//! Looking at a run without touching it: whether or not another process trains it, and whatever is damaged.

use super::{
    CHECKPOINTS, LOCK, RunFolder, Save, Status,
    open::{read_config, read_finished, read_run},
    save::scan,
};
use crate::{CheckpointError, Result};
use std::{
    fs::{File, TryLockError},
    io::ErrorKind,
    path::Path,
};

/// A run as it lies on disk.
#[derive(Clone, Debug)]
pub struct Peek {
    /// The text of `config.toml`, which is as it was when the run was made.
    pub config: String,
    /// How far it has come. Of a run that can be resumed the saves are not checked byte for byte: that is for
    /// [`RunFolder::open`].
    pub status: Status,
    /// Whether a process uses it now.
    pub in_use: bool,
    /// Its complete saves, oldest first.
    pub saves: Vec<Save>,
    /// Damage that was passed over, one line each.
    pub notes: Vec<String>,
}

impl RunFolder {
    /// Looks at a run: nothing is changed, and no lock is kept.
    ///
    /// # Errors
    /// Not a run, a changed configuration, or files that can't be read.
    pub fn peek(path: &Path) -> Result<Peek> {
        read_run(path)?;
        let in_use = in_use(path)?;
        let config = read_config(path)?;
        let mut notes = Vec::new();
        let scan = scan(&path.join(CHECKPOINTS))?;
        // A run in use is about to write all that could look damaged here.
        let finished = !in_use && read_finished(path, &mut notes)?.is_some();
        let epochs = scan.damaged.iter().map(|(epoch, _)| *epoch);
        notes.extend(epochs.map(|epoch| format!("the save of epoch {epoch} is damaged")));
        let status = match scan.saves.iter().any(|s| s.state_path().is_some()) {
            _ if finished => Status::Finished,
            true => Status::Resumable,
            false => Status::Fresh,
        };
        Ok(Peek { config, status, in_use, saves: scan.saves, notes })
    }
}

/// Whether a process holds the lock of a folder. It is asked for as one of many readers and let go of at once, so that two
/// that look don't see one another.
fn in_use(path: &Path) -> Result<bool> {
    let at = path.join(LOCK);
    let file = match File::open(&at) {
        Ok(file) => file,
        // A copy without it, which nobody uses.
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(CheckpointError::io("read", &at, e)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(e)) => Err(CheckpointError::io("lock", &at, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{FINISHED, METRICS},
        *,
    };
    use std::fs;

    #[test]
    fn looking_changes_nothing_and_sees_who_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let mut held = RunFolder::create(&run, "seed = 1\n").unwrap();
        let peek = RunFolder::peek(&run).unwrap();
        assert_eq!((peek.config.as_str(), peek.status, peek.in_use), ("seed = 1\n", Status::Fresh, true));
        held.finish().unwrap();
        drop(held);
        let peek = RunFolder::peek(&run).unwrap();
        assert_eq!((peek.status, peek.in_use, peek.notes.len()), (Status::Finished, false, 0));
        // Two that look at once don't take one another for a trainer.
        let reader = File::open(run.join(LOCK)).unwrap();
        reader.try_lock_shared().unwrap();
        assert!(!RunFolder::peek(&run).unwrap().in_use);
        drop(reader);
        // Metrics that don't agree with the marker: not finished, and said.
        fs::write(run.join(METRICS), "x").unwrap();
        let peek = RunFolder::peek(&run).unwrap();
        assert_eq!((peek.status, peek.notes.len()), (Status::Fresh, 1), "{:?}", peek.notes);
        assert!(run.join(FINISHED).exists(), "it is for resuming to remove");
        fs::write(run.join("config.toml"), "seed = 2\n").unwrap();
        let error = RunFolder::peek(&run).unwrap_err().to_string();
        assert!(error.contains("config.toml") && error.contains("changed"), "{error}");
        let error = RunFolder::peek(folder.path()).unwrap_err().to_string();
        assert!(error.contains("run.json"), "{error}");
    }
}
