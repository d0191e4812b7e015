//! One run as it lies on disk, and all of a folder.

use super::figures::Figures;
use crate::{
    Failure,
    commands::{
        finish::{Choice, FIGURES, SELECTION, end_files},
        place,
        setting::{SETTING, Setting},
    },
};
use foxhunt_checkpoint::{CHECKPOINTS, CONFIG, FINISHED, METRICS, RUN, RunFolder, Status};
use foxhunt_train::Config;
use serde::de::DeserializeOwned;
use std::{
    fs,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Trained, chosen, tested.
    Finished,
    /// A process holds its lock.
    Running,
    /// It can be gone on with.
    Stopped,
    /// Something in it is not as foxhunt wrote it.
    Broken,
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Finished => "finished",
            State::Running => "running",
            State::Stopped => "stopped",
            State::Broken => "broken",
        }
    }
}

/// What a run left, as far as it can be read.
pub(crate) struct Run {
    pub(crate) path: PathBuf,
    pub(crate) state: State,
    /// What is wrong, one line each.
    pub(crate) problems: Vec<String>,
    pub(crate) config: Option<Config>,
    pub(crate) setting: Option<Setting>,
    pub(crate) choices: Vec<Choice>,
    /// Of a run with one instrument.
    pub(crate) figures: Option<Figures>,
    /// Where instruments are listed, name and figures of each.
    pub(crate) markets: Vec<(String, Figures)>,
    /// Epochs whose save is complete.
    pub(crate) epochs: u64,
    /// When its folder was made and when it last wrote what it is known by, as the file system has them.
    pub(crate) began: Option<SystemTime>,
    pub(crate) last: Option<SystemTime>,
    /// Bytes of all its files.
    pub(crate) bytes: u64,
}

impl Run {
    /// Reads a folder. What is damaged is told in `problems`, not as an error.
    pub(crate) fn read(path: &Path) -> Self {
        let mut run = Run {
            path: path.to_owned(),
            state: State::Broken,
            problems: Vec::new(),
            config: None,
            setting: None,
            choices: Vec::new(),
            figures: None,
            markets: Vec::new(),
            epochs: 0,
            began: modified(&path.join(CONFIG)),
            last: [METRICS, FINISHED].iter().filter_map(|f| modified(&path.join(f))).max(),
            bytes: size(path),
        };
        let peek = match RunFolder::peek(path) {
            Ok(peek) => peek,
            Err(e) => {
                run.problems.push(e.to_string());
                return run;
            }
        };
        run.problems.extend(peek.notes);
        run.epochs = peek.saves.last().map_or(0, |s| s.epoch());
        match Config::resolve(Some((CONFIG, &peek.config)), None, &[]) {
            Ok(config) => run.config = Some(config),
            Err(e) => run.problems.push(e.to_string()),
        }
        match Setting::read(path) {
            Ok(setting) => run.setting = setting,
            Err(failure) => run.problems.push(failure.to_string()),
        }
        let finished = peek.status == Status::Finished;
        // Before its end a run may have none of these, or those of an end that was cut short.
        run.choices = run.json(SELECTION).unwrap_or_default();
        if run.lists_markets() {
            let config = run.config.iter();
            let names: Vec<String> =
                config.flat_map(|c| c.data.markets.iter().map(|m| m.name.clone())).collect();
            for name in names {
                let figures = run.figures_of(&format!("{name}/{FIGURES}"));
                run.markets.extend(figures.map(|f| (name, f)));
            }
        } else {
            run.figures = run.figures_of(FIGURES);
        }
        if finished {
            let missing = |f: &String| !path.join(f).exists();
            let gone: Vec<String> = run.config.iter().flat_map(end_files).filter(missing).collect();
            let again = |f: &String| {
                format!("{f} is missing: foxhunt train --resume {} makes it again", path.display())
            };
            run.problems.extend(gone.iter().map(again));
            run.problems.extend(missing(&SETTING.to_owned()).then(|| format!("{SETTING} is missing")));
        }
        run.state = match () {
            () if peek.in_use => State::Running,
            () if !run.problems.is_empty() => State::Broken,
            () if finished => State::Finished,
            () => State::Stopped,
        };
        run
    }

    fn figures_of(&mut self, name: &str) -> Option<Figures> {
        let value: serde_json::Value = self.json(name)?;
        Figures::of(&value).map_err(|e| self.problems.push(format!("{name}: {e}"))).ok()
    }

    /// What a file holds; nothing where there is none.
    fn json<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let path = self.path.join(name);
        if !path.exists() {
            return None;
        }
        let text = match place::read(&path) {
            Ok(text) => text,
            Err(failure) => {
                self.problems.push(failure.to_string());
                return None;
            }
        };
        match serde_json::from_str(&text) {
            Ok(value) => Some(value),
            Err(e) => {
                let e = foxhunt_core::plain_words(&e.to_string());
                self.problems.push(format!("{name} is not as foxhunt wrote it ({e})"));
                None
            }
        }
    }

    /// Members by id, in order.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.config.as_ref().map(Config::member_ids).unwrap_or_default()
    }

    /// Whether it walks forward: then each fold chose a member, and the figures are those of one account through all.
    pub(crate) fn walks(&self) -> bool {
        self.config.as_ref().is_some_and(Config::walks)
    }

    /// Whether instruments are listed: then each has a choice and figures of its own.
    pub(crate) fn lists_markets(&self) -> bool {
        self.config.as_ref().is_some_and(Config::lists_markets)
    }

    /// Of the chosen member of an instrument of those that are listed: its number, where there are no folds, and its place among
    /// the members of the figures.
    pub(crate) fn chosen_of(&self, name: &str) -> (Option<u64>, usize) {
        if self.walks() {
            return (None, 0);
        }
        let mut own = self.choices.iter().filter(|c| c.is_of(name));
        let at = own.position(|c| c.chosen);
        let chosen = self.choices.iter().find(|c| c.is_of(name) && c.chosen);
        (chosen.zip(self.config.as_ref()).map(|(c, config)| config.number_of(c.member)), at.unwrap_or(0))
    }

    /// The member that the validation window chose; nothing where there are folds, or instruments with members of their own.
    pub(crate) fn chosen(&self) -> Option<&Choice> {
        self.choices.iter().find(|c| c.chosen && !self.walks() && c.market.is_none())
    }

    /// Ids of the members that the figures are of: 0 for the account through all folds.
    pub(crate) fn figure_ids(&self) -> Vec<u64> {
        if self.walks() { vec![0] } else { self.ids() }
    }

    /// The same of the figures of an instrument of those that are listed.
    pub(crate) fn figure_ids_of(&self, name: &str) -> Vec<u64> {
        let Some(config) = self.config.as_ref().filter(|_| !self.walks()) else { return vec![0] };
        let at = (0..config.markets()).find(|m| config.market_name(*m) == Some(name));
        at.map(|m| config.of_market(m).member_ids()).unwrap_or_default()
    }

    /// A test figure of the chosen member.
    pub(crate) fn chosen_figure(&self, key: &str) -> Option<f64> {
        let id = if self.walks() { 0 } else { self.chosen()?.member };
        let at = self.figure_ids().iter().position(|i| *i == id)?;
        self.figures.as_ref()?.get(at, key)
    }

    /// The data's name: the file without its folder.
    pub(crate) fn data(&self) -> Option<String> {
        let named = self.setting.as_ref().map(|s| s.data.clone());
        named.or_else(|| {
            let files = &self.config.as_ref()?.data.files;
            Some(if files.is_empty() { "embedded sample".into() } else { files.join(", ") })
        })
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|m| m.modified()).ok()
}

/// A moment to the minute, UTC.
pub(crate) fn minute(at: Option<SystemTime>) -> String {
    let ns = at.and_then(|t| i64::try_from(t.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok());
    ns.map_or_else(|| "-".into(), |ns| day_and_minute(&foxhunt_data::show_moment(ns)))
}

/// `2017-01-31T10:20:30Z` to the minute.
pub(crate) fn day_and_minute(stamp: &str) -> String {
    stamp.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

/// Bytes of all files below a folder, or of a file; what can't be read counts nothing.
pub(crate) fn size(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else { return 0 };
    if !meta.is_dir() {
        return if meta.is_file() { meta.len() } else { 0 };
    }
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| size(&entry.path())).sum()
}

/// Folders in folders that are looked through: `runs/2026/eurusd/a`.
const DEPTH: usize = 4;

/// The runs below a folder, or the folder itself if it is one, by path. A folder with a part of a run is one too.
///
/// # Errors
/// A folder that isn't there or can't be read; of those below it, what can't be read is passed over.
pub(crate) fn find(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|e| place::unreadable_folder(folder, &e))?;
    if is_run(folder) {
        return Ok(vec![folder.to_owned()]);
    }
    let mut found = Vec::new();
    let inside = entries.flatten().map(|e| e.path());
    look(inside.collect(), DEPTH, &mut found);
    found.sort();
    Ok(found)
}

fn look(paths: Vec<PathBuf>, depth: usize, found: &mut Vec<PathBuf>) {
    for path in paths {
        if !path.symlink_metadata().is_ok_and(|m| m.is_dir()) {
            continue;
        }
        if is_run(&path) {
            found.push(path);
        } else if depth > 1 {
            let inside = fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path());
            look(inside.collect(), depth - 1, found);
        }
    }
}

fn is_run(folder: &Path) -> bool {
    folder.join(RUN).exists() || folder.join(CONFIG).exists() && folder.join(CHECKPOINTS).is_dir()
}
