//! Files and folders that commands read and write themselves.

use crate::Failure;
use foxhunt_checkpoint::CONFIG;
use serde::Serialize;
use std::{
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|e| {
        let at = path.display();
        Failure::Unusable(match e.kind() {
            ErrorKind::NotFound => {
                format!("there is no file {at}: check the path, or start foxhunt where it is")
            }
            ErrorKind::NotADirectory => {
                format!("can't read {at}: a part of its path is a file; check the path")
            }
            ErrorKind::IsADirectory if path.join(CONFIG).is_file() => {
                format!("{at} is a run's folder: name a file, such as {}", path.join(CONFIG).display())
            }
            ErrorKind::IsADirectory => format!("{at} is a folder: name a file"),
            ErrorKind::InvalidData => {
                format!("{at} is not text (UTF-8): name another file, or write it anew")
            }
            _ => format!("can't read {at}: {e}; check its permissions"),
        })
    })
}

/// A folder that can't be read, with what to do.
pub(crate) fn unreadable_folder(path: &Path, e: &io::Error) -> Failure {
    let at = path.display();
    Failure::Unusable(match e.kind() {
        ErrorKind::NotFound => {
            format!("there is no folder {at}: check the path, or start foxhunt where it is")
        }
        ErrorKind::NotADirectory => format!("{at} is a file: name the folder that it is in"),
        _ => format!("can't read the folder {at}: {e}; check its permissions"),
    })
}

/// Writes JSON for people and programs, whole or not at all.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    write_whole(path, text.as_bytes())
}

/// Writes a file whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    by_rename(path, |file| file.write_all(bytes).map_err(|e| Failure::file("write", path, &e)))
}

/// Writes a file under another name, which becomes its own once all is on disk.
fn by_rename(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let failed = |e| Failure::file("write", path, &e);
    let mut file = BufWriter::new(File::create(&temporary).map_err(failed)?);
    let written = write(&mut file).and_then(|()| {
        let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
        file.sync_all().and_then(|()| fs::rename(&temporary, path)).map_err(failed)
    });
    if written.is_err() {
        // The first error is the one to tell; a leftover that can't be removed changes nothing.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Refuses a folder for results that can't be made or holds something, before there are results.
pub(crate) fn check_new(folder: &Path) -> Result<(), Failure> {
    check_reachable(folder)?;
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::Refused(format!("{} is not empty: name another folder", folder.display())));
    }
    Ok(())
}

/// Refuses a folder on whose path there is a file, or a link that leads nowhere.
pub(crate) fn check_reachable(folder: &Path) -> Result<(), Failure> {
    let wrong = |what: String| {
        let what = format!("can't make the folder {}: {what}; name another folder", folder.display());
        Err(Failure::Unusable(what))
    };
    // The working folder, where the path's first part is not there yet, is one.
    match folder.ancestors().find(|a| a.symlink_metadata().is_ok()) {
        Some(link) if !link.exists() => wrong(leads_nowhere(link)),
        Some(file) if !file.is_dir() => wrong(format!("{} is a file", file.display())),
        _ => Ok(()),
    }
}

/// What is to be said of a link to something that isn't there.
fn leads_nowhere(link: &Path) -> String {
    let to = fs::read_link(link).map(|to| format!(" ({})", to.display())).unwrap_or_default();
    format!("{} is a link to something that is not there{to}", link.display())
}

/// Writes a file that isn't there yet; it appears whole, by rename.
pub(crate) fn write_new(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    check_unwritten(path)?;
    by_rename(path, write)
}

/// Refuses a name that says of a file of Parquet that it is another.
pub(crate) fn check_parquet(path: &Path) -> Result<(), Failure> {
    match path.extension().map(|e| e.to_string_lossy().to_lowercase()) {
        Some(other) if !["parquet", "pq"].contains(&other.as_str()) => Err(Failure::Refused(format!(
            "{} would be Parquet under the name of another kind of file: name it {}",
            path.display(),
            path.with_extension("parquet").display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses a file that is there already or can't be, before there is anything to write.
pub(crate) fn check_unwritten(path: &Path) -> Result<(), Failure> {
    let at = path.display();
    if path.symlink_metadata().is_ok() {
        let what = if path.exists() { format!("{at} is there already") } else { leads_nowhere(path) };
        return Err(Failure::Refused(format!("{what}: name another file, or remove it first")));
    }
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(Failure::Unusable(format!(
            "can't write {at}: there is no folder {}; make it first, or name another file",
            folder.display()
        ))),
        None => Ok(()),
    }
}
