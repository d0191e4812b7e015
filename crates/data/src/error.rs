//! What can be wrong with a file, a cell of it, or an instrument, said so that a person can mend it.

/// What to do where a file can't be read.
fn mend(source: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    match source.kind() {
        ErrorKind::NotFound => "check the path; a relative one counts from where the program is started",
        ErrorKind::IsADirectory => "name the files in it, not the folder",
        ErrorKind::NotSeekable => "it is a pipe: write it to a file first",
        _ => "check the path and its permissions",
    }
}

/// A file could not be turned into bars, or an instrument is not one that can be traded exactly.
///
/// Texts are boxed so that a result is no larger than it must be. Every message names the file, the line and the field where there are any, the text that was found, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file could not be opened or read.
    #[error("{path}: cannot be read ({source}); {}", mend(.source))]
    Io {
        /// The file.
        path: Box<str>,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file starts like a packed one but does not unpack.
    #[error("{path}: the {packing} stream is damaged or cut short ({source}); fetch or pack the file again")]
    Packed {
        /// The file.
        path: Box<str>,
        /// How it is packed, such as `gzip`.
        packing: &'static str,
        /// What the unpacker said.
        source: std::io::Error,
    },
    /// Something about the file as a whole.
    #[error("{path}: {problem}; {fix}")]
    File {
        /// The file.
        path: Box<str>,
        /// What is wrong.
        problem: Box<str>,
        /// What to do.
        fix: Box<str>,
    },
    /// Something about one line: its columns, or its place among the others.
    #[error("{path}, line {line}: {problem}; {fix}")]
    Line {
        /// The file.
        path: Box<str>,
        /// Line of the (unpacked) file, from 1; number of the record where a format has no lines.
        line: u64,
        /// What is wrong.
        problem: Box<str>,
        /// What to do.
        fix: Box<str>,
    },
    /// One cell.
    #[error("{path}, line {line}, field {field}: \"{text}\" {problem}; {fix}")]
    Cell {
        /// The file.
        path: Box<str>,
        /// Line of the (unpacked) file, from 1; number of the record where a format has no lines.
        line: u64,
        /// Name of the field, such as `bid_high`.
        field: Box<str>,
        /// The cell's text, cut after 60 characters.
        text: Box<str>,
        /// What is wrong.
        problem: Box<str>,
        /// What to do.
        fix: Box<str>,
    },
    /// An instrument that breaks a rule of the market's units.
    #[error("instrument {name}, field {field}: {problem}; {fix}")]
    Instrument {
        /// The instrument.
        name: Box<str>,
        /// Name of the field, such as `tv`.
        field: &'static str,
        /// What is wrong.
        problem: Box<str>,
        /// What to do.
        fix: Box<str>,
    },
    /// An instrument's TOML text is not valid.
    #[error("instrument file is not valid TOML for an instrument: {0}")]
    Toml(Box<str>),
}

type Text = Box<str>;

impl DataError {
    pub(crate) fn file(path: &str, problem: impl Into<Text>, fix: impl Into<Text>) -> Self {
        Self::File { path: path.into(), problem: problem.into(), fix: fix.into() }
    }

    pub(crate) fn line(path: &str, line: u64, problem: impl Into<Text>, fix: impl Into<Text>) -> Self {
        Self::Line { path: path.into(), line, problem: problem.into(), fix: fix.into() }
    }

    pub(crate) fn cell(
        path: &str,
        (line, field): (u64, &str),
        text: &str,
        problem: impl Into<Text>,
        fix: impl Into<Text>,
    ) -> Self {
        let text = shown(text).into();
        Self::Cell {
            path: path.into(),
            line,
            field: field.into(),
            text,
            problem: problem.into(),
            fix: fix.into(),
        }
    }
}

/// The text of a cell as an error shows it: at most 60 characters, control characters made visible.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        out.push('…');
    }
    out
}
