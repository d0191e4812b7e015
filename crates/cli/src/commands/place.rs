//! Files and folders that commands read and write themselves.

use crate::Failure;
use serde::Serialize;
use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|e| Failure::file("read", path, &e))
}

/// Writes JSON for people and programs, whole or not at all.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    let temporary = path.with_extension("json.tmp");
    File::create(&temporary)
        .and_then(|mut f| f.write_all(text.as_bytes()).and_then(|()| f.sync_all()))
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|e| Failure::file("write", path, &e))
}

/// Refuses a folder for results that can't be made or holds something, before there are results.
pub(crate) fn check_new(folder: &Path) -> Result<(), Failure> {
    check_reachable(folder)?;
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::Refused(format!("{} is not empty: name another folder", folder.display())));
    }
    Ok(())
}

/// Refuses a folder on whose path there is a file.
pub(crate) fn check_reachable(folder: &Path) -> Result<(), Failure> {
    // The working folder, where the path's first part is not there yet, is one.
    match folder.ancestors().find(|a| a.exists()) {
        Some(file) if !file.is_dir() => Err(Failure::Unusable(format!(
            "can't make the folder {}: {} is a file; name another folder",
            folder.display(),
            file.display()
        ))),
        _ => Ok(()),
    }
}

/// Writes a file that isn't there yet; it appears whole, by rename.
pub(crate) fn write_new(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if path.exists() {
        let what = format!("{} is there already: name another file, or remove it first", path.display());
        return Err(Failure::Refused(what));
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let failed = |e| Failure::file("write", path, &e);
    let mut file = BufWriter::new(File::create(&part).map_err(failed)?);
    let written = write(&mut file).and_then(|()| {
        let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
        file.sync_all().and_then(|()| fs::rename(&part, path)).map_err(failed)
    });
    if written.is_err() {
        // The first error is the one to tell; a leftover that can't be removed changes nothing.
        let _ = fs::remove_file(&part);
    }
    written
}
