//! Configuration and data, as commands take them.

use super::{place, setting::Setting};
use crate::Failure;
use foxhunt_data::{Bars, DataError, LoadOptions, load, sample};
use foxhunt_train::{Config, Size};
use std::{io::ErrorKind, path::Path};

/// The configuration of a file, a size and `--set` options.
pub(crate) fn resolve(file: Option<&Path>, size: Option<Size>, set: &[String]) -> Result<Config, Failure> {
    let text = file.map(place::read).transpose()?;
    let name = file.map(|p| p.display().to_string()).unwrap_or_default();
    let given = text.as_deref().map(|t| (name.as_str(), t));
    Ok(Config::resolve(given, size, set)?)
}

/// The bars of the files, or the embedded sample.
pub(crate) fn load_bars(files: &[String]) -> Result<Bars, Failure> {
    match files {
        [] => Ok(sample()),
        [one] => Ok(load(one, &LoadOptions::default())?),
        _ => Err(Failure::Unusable(format!("data.files names {} files: a run takes one", files.len()))),
    }
}

/// The bars that a run was begun on, and its setting.
pub(crate) fn load_own_bars(run: &Path, config: &Config) -> Result<(Bars, Option<Setting>), Failure> {
    let files = &config.data.files;
    let bars = match files.as_slice() {
        [one] if Path::new(one).is_relative() => match load(one, &LoadOptions::default()) {
            Err(e @ DataError::Io { .. }) if is_missing(&e) => Err(Failure::Unusable(format!(
                "{e}; {} names its data relative to the folder that it was begun in: start foxhunt there",
                run.display()
            ))),
            other => Ok(other?),
        },
        _ => load_bars(files),
    }?;
    let setting = Setting::read(run)?;
    if let Some(setting) = &setting {
        setting.check(&bars)?;
    }
    Ok((bars, setting))
}

fn is_missing(e: &DataError) -> bool {
    matches!(e, DataError::Io { source, .. } if source.kind() == ErrorKind::NotFound)
}
