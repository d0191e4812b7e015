//! Configuration and data, as commands take them.

use crate::Failure;
use foxhunt_data::{Bars, LoadOptions, load, sample};
use foxhunt_train::{Config, Size};
use std::path::Path;

/// The configuration of a file, a size and `--set` options.
pub(crate) fn resolve(file: Option<&Path>, size: Option<Size>, set: &[String]) -> Result<Config, Failure> {
    let text =
        match file {
            Some(path) => Some(std::fs::read_to_string(path).map_err(|e| {
                Failure::Check(format!("can't read the configuration {}: {e}", path.display()))
            })?),
            None => None,
        };
    let place = file.map(|p| p.display().to_string()).unwrap_or_default();
    let given = text.as_deref().map(|t| (place.as_str(), t));
    Ok(Config::resolve(given, size, set)?)
}

/// The bars of the files, or the embedded sample.
pub(crate) fn load_bars(files: &[String]) -> Result<Bars, Failure> {
    match files {
        [] => Ok(sample()),
        [one] => Ok(load(one, &LoadOptions::default())?),
        _ => Err(Failure::Check(format!("{} files of data: a run takes one", files.len()))),
    }
}
