//! The folder of a comparison: `setting.json`, and one file per finished slice in `slices/`.

use crate::{Arm, CompareError, Result, Setting, Slice};
use foxhunt_checkpoint::{CheckpointError, LOCK, Unsealed, seal, unseal};
use foxhunt_core::plain_words;
use serde::Serialize;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

const SETTING: &str = "setting.json";
const SLICES: &str = "slices";

/// Finished members of every arm, by id, and the slices that they come from.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    slices: Vec<Slice>,
    /// Number of the slice and of the member in it.
    members: BTreeMap<(Arm, u64), (usize, usize)>,
}

/// Members of one arm that are to be trained together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Whose.
    pub arm: Arm,
    /// Which, rising.
    pub ids: Vec<u64>,
}

/// A folder of slices of one setting.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    fingerprint: String,
    /// Held as long as this is: two processes would write the same scratch files.
    _lock: File,
}

impl Folder {
    /// Opens or makes the folder.
    ///
    /// # Errors
    /// [`CompareError::Refused`] where the folder holds another comparison or something else, or another process uses it;
    /// the disk.
    pub fn open(path: &Path, setting: &Setting) -> Result<Self> {
        let file = path.join(SETTING);
        if file.exists() {
            check(&file, setting)?;
        } else {
            // What another process has just begun has a lock, and nothing that must be kept.
            let mine = |name: &std::ffi::OsStr| name == LOCK || name == SLICES;
            let used = fs::read_dir(path)
                .is_ok_and(|mut entries| entries.any(|e| e.map_or(true, |e| !mine(&e.file_name()))));
            if used {
                let what = format!("{} holds something else: name another folder", path.display());
                return Err(CompareError::Refused(what));
            }
        }
        let slices = path.join(SLICES);
        fs::create_dir_all(&slices).map_err(|e| CompareError::io("create", &slices, e))?;
        let lock = lock(path)?;
        // Again: another process may have made it in the meantime.
        if file.exists() {
            check(&file, setting)?;
        } else {
            write_json(&file, setting, true)?;
        }
        Ok(Folder { path: path.to_owned(), fingerprint: setting.fingerprint()?, _lock: lock })
    }

    fn slices(&self) -> PathBuf {
        self.path.join(SLICES)
    }

    /// A file that a slice may write while it is measured.
    pub fn scratch(&self) -> PathBuf {
        self.slices().join("weights.part")
    }

    /// Writes a slice, whole or not at all.
    ///
    /// # Errors
    /// The disk.
    pub fn keep(&self, slice: &Slice) -> Result<()> {
        let id = |member: Option<&crate::Member>| member.map_or(0, |m| m.id);
        let (first, last) = (id(slice.members.first()), id(slice.members.last()));
        write_json(&self.slices().join(format!("{}-{first:05}-{last:05}.json", slice.arm)), slice, false)
    }

    /// Everything that is finished here and in `others`, whose setting must be the same.
    ///
    /// # Errors
    /// [`CompareError::Refused`] for a folder of another comparison, and where two slices of the same kind of device disagree
    /// about a member; [`CompareError::Damaged`]; the disk.
    pub fn finished(&self, setting: &Setting, others: &[PathBuf]) -> Result<Finished> {
        let mut finished = Finished::default();
        for path in [&self.path].into_iter().chain(others) {
            let file = path.join(SETTING);
            if !file.exists() {
                let what = format!("{} is no folder of a comparison: it has no {SETTING}", path.display());
                return Err(CompareError::Refused(what));
            }
            check(&file, setting)?;
            for file in json_files(&path.join(SLICES))? {
                finished.add(read_slice(&file, &self.fingerprint)?, &file)?;
            }
        }
        Ok(finished)
    }
}

impl Finished {
    fn add(&mut self, slice: Slice, file: &Path) -> Result<()> {
        let number = self.slices.len();
        for (k, member) in slice.members.iter().enumerate() {
            let key = (slice.arm, member.id);
            match self.members.get(&key) {
                None => {
                    self.members.insert(key, (number, k));
                }
                Some(&(s, m)) => {
                    let other = &self.slices[s];
                    if other.device == slice.device && other.members[m] != *member {
                        return Err(CompareError::Refused(format!(
                            "{} and another slice disagree about member {} of arm {}: one of them was not made by this \
                             program on this kind of device; remove it",
                            file.display(),
                            member.id,
                            slice.arm
                        )));
                    }
                }
            }
        }
        self.slices.push(slice);
        Ok(())
    }

    /// The slices, in the order in which they were read.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// Members of an arm, by rising id.
    pub fn of(&self, arm: Arm) -> impl Iterator<Item = &crate::Member> {
        self.members.range((arm, 0)..=(arm, u64::MAX)).map(|(_, &(s, m))| &self.slices[s].members[m])
    }

    /// What is left to train of these arms and ids, in slices of `size` members; the arms take turns, so that whatever is
    /// finished is finished in all of them.
    pub fn missing(&self, arms: &[Arm], ids: &[u64], size: usize) -> Vec<Work> {
        let mut work = Vec::new();
        for part in ids.chunks(size.max(1)) {
            for &arm in arms {
                let left = |id: &&u64| !self.members.contains_key(&(arm, **id));
                let ids: Vec<u64> = part.iter().filter(left).copied().collect();
                if !ids.is_empty() {
                    work.push(Work { arm, ids });
                }
            }
        }
        work
    }
}

/// Refuses a folder whose setting is another.
fn check(file: &Path, setting: &Setting) -> Result<()> {
    let text = match read_sealed(file) {
        Err(CompareError::Damaged { path, what }) => {
            let path = path.display();
            return Err(CompareError::Refused(format!(
                "{path}: {what}; restore it from a copy, or compare again in another folder"
            )));
        }
        text => text?,
    };
    let damaged = |e: serde_json::Error| CompareError::Damaged {
        path: file.to_owned(),
        what: plain_words(&e.to_string()),
    };
    let there: Value = serde_json::from_str(&text).map_err(damaged)?;
    setting.difference(&there)?.map_or(Ok(()), |difference| {
        let path = file.parent().unwrap_or(file).display();
        Err(CompareError::Refused(format!(
            "{path} holds another comparison ({difference}): name another folder, or compare with its configuration"
        )))
    })
}

/// The lock of a folder, with what to do where another comparison holds it.
fn lock(path: &Path) -> Result<File> {
    foxhunt_checkpoint::lock(path).map_err(|e| match e {
        CheckpointError::Locked { .. } => CompareError::Refused(format!(
            "{}: another process writes to it; wait for it, stop it, or give this one its own --out and bring them together \
             with --merge",
            path.display()
        )),
        other => other.into(),
    })
}

fn read_slice(file: &Path, fingerprint: &str) -> Result<Slice> {
    let damaged = |what: String| CompareError::Damaged { path: file.to_owned(), what };
    let text = read_sealed(file)?;
    let slice: Slice = serde_json::from_str(&text).map_err(|e| damaged(plain_words(&e.to_string())))?;
    if slice.fingerprint != fingerprint {
        return Err(damaged("it is a slice of another comparison".into()));
    }
    Ok(slice)
}

/// Files of slices, sorted, so that what is computed of them has one order.
fn json_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let failed = |e| CompareError::io("read", folder, e);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The text of a file that [`write_json`] wrote, without its seal.
fn read_sealed(file: &Path) -> Result<String> {
    let text = fs::read_to_string(file).map_err(|e| CompareError::io("read", file, e))?;
    match unseal(&text) {
        Unsealed::Whole(text) | Unsealed::Plain(text) => Ok(text),
        Unsealed::Damaged => {
            Err(CompareError::Damaged { path: file.to_owned(), what: "it is not as it was written".into() })
        }
    }
}

fn write_json(path: &Path, value: &impl Serialize, pretty: bool) -> Result<()> {
    let text = if pretty { serde_json::to_string_pretty(value)? } else { serde_json::to_string(value)? };
    write_whole(path, seal(&text).as_bytes())
}

/// Writes a file whole or not at all: under another name, made durable, renamed.
///
/// # Errors
/// The disk.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    let temporary = PathBuf::from(name);
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&temporary, path)).map_err(|e| CompareError::io("write", path, e))
}
