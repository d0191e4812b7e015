//! What can go wrong with a checkpoint or a run folder, said so that a person can mend it.

use foxhunt_nn::PlanError;
use std::{
    io::{self, ErrorKind},
    path::Path,
};

/// A file or folder that can't be written, read or used. Every message names it and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The system refused an operation on a file or folder.
    #[error("can't {doing} {path}: {source}; {fix}")]
    Io {
        /// What was being done: `write`, `read`.
        doing: &'static str,
        /// The file or folder.
        path: Box<str>,
        /// What the system said.
        source: io::Error,
        /// What to do.
        fix: &'static str,
    },
    /// A file or folder that isn't what it should be.
    #[error("{path}: {problem}; {fix}")]
    File {
        /// The file or folder.
        path: Box<str>,
        /// What is wrong.
        problem: Box<str>,
        /// What to do.
        fix: Box<str>,
    },
    /// Something that is as it should be, but that must not be done to it: a run is not overwritten.
    #[error("{path}: {problem}; {fix}")]
    Refused {
        /// The file or folder.
        path: Box<str>,
        /// Why.
        problem: Box<str>,
        /// What to do.
        fix: Box<str>,
    },
    /// A tensor of a file that doesn't fit the plan.
    #[error("{path}, tensor {tensor}: expected {expected}, found {found}")]
    Tensor {
        /// The file.
        path: Box<str>,
        /// Its name.
        tensor: Box<str>,
        /// What the plan or the format asks for.
        expected: Box<str>,
        /// What the file holds.
        found: Box<str>,
    },
    /// Another process uses the run.
    #[error("{path}: another process uses this run; wait for it, stop it, or choose another folder")]
    Locked {
        /// The run folder.
        path: Box<str>,
    },
    /// The plan or its device.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

type Text = Box<str>;

pub(crate) fn shown(path: &Path) -> Text {
    path.display().to_string().into()
}

impl CheckpointError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let fix = match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free space there, then resume the run",
            ErrorKind::PermissionDenied => "give this user the right to do so, or choose another folder",
            ErrorKind::ReadOnlyFilesystem => "choose a folder that can be written",
            ErrorKind::NotFound => "check the path",
            ErrorKind::NotADirectory => "check the path: a part of it is a file",
            ErrorKind::Unsupported => "choose a folder on a local disk",
            _ => "check the path and its disk",
        };
        Self::Io { doing, path: shown(path), source, fix }
    }

    pub(crate) fn file(path: &Path, problem: impl Into<Text>, fix: impl Into<Text>) -> Self {
        Self::File { path: shown(path), problem: problem.into(), fix: fix.into() }
    }

    pub(crate) fn refused(path: &Path, problem: impl Into<Text>, fix: impl Into<Text>) -> Self {
        Self::Refused { path: shown(path), problem: problem.into(), fix: fix.into() }
    }

    pub(crate) fn tensor(
        path: &Path,
        tensor: &str,
        expected: impl Into<Text>,
        found: impl Into<Text>,
    ) -> Self {
        Self::Tensor {
            path: shown(path),
            tensor: tensor.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}
