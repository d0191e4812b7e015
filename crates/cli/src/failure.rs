use crate::commands::exit_code;
use foxhunt_checkpoint::CheckpointError;
use foxhunt_compare::CompareError;
use std::{error::Error, io, process::ExitCode};

/// Exit codes, as `foxhunt --help` prints them. What decides on each is [`Failure::code`]. The program's own are below
/// 101, which would be a panic; 128 and a signal's number is what shells report of a program that the signal ended.
pub(crate) const EXIT_CODES: &str = "Exit codes:
  0    done
  1    a check does not hold; or refused, because it would overwrite something or mix a run with what isn't its own
  2    wrong usage
  3    the configuration, data, device or disk
  130  stopped by Ctrl-C, after a save; at once by a second
  143  stopped by SIGTERM, likewise
Those of foxhunt itself are below 101; 128 and more is 128 + the number of a signal.";

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was checked does not hold.
    Check(String),
    /// It could be done, and would destroy or falsify something.
    Refused(String),
    /// Something that the command needs is wrong or missing, which this program found itself.
    Unusable(String),
    /// Something that the command needs didn't work.
    Machine(Box<dyn Error>),
    /// A signal stopped it; it has saved and said so.
    Stopped {
        /// The signal's number.
        signal: u8,
    },
    /// Nobody reads standard output any more (`| head`): there is nothing left to say.
    ReaderLeft,
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Failure::ReaderLeft => 0,
            Failure::Check(_) | Failure::Refused(_) => 1,
            Failure::Machine(e) if refuses(e.as_ref()) => 1,
            Failure::Unusable(_) | Failure::Machine(_) => 3,
            Failure::Stopped { signal } => exit_code(*signal),
        }
    }

    /// Prints the chain of causes and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let code = ExitCode::from(self.code());
        match self {
            Failure::ReaderLeft | Failure::Stopped { .. } => {}
            Failure::Check(what) | Failure::Refused(what) | Failure::Unusable(what) => {
                note!("foxhunt: {what}");
            }
            Failure::Machine(e) => {
                let mut said = e.to_string();
                note!("foxhunt: {said}");
                let mut cause = e.source();
                while let Some(e) = cause {
                    // Many messages hold their cause already.
                    let text = e.to_string();
                    if !said.contains(&text) {
                        note!("  because: {text}");
                    }
                    said = text;
                    cause = e.source();
                }
            }
        }
        code
    }

    /// The same of something that the user wrote at this place, with all its causes; what is refused stays so.
    pub(crate) fn at(self, place: &str) -> Self {
        match self {
            Failure::Unusable(what) => Failure::Unusable(format!("{place}: {what}")),
            Failure::Refused(what) => Failure::Refused(format!("{place}: {what}")),
            Failure::Machine(e) if !refuses(e.as_ref()) => {
                let mut said = e.to_string();
                let mut cause = e.source();
                while let Some(e) = cause {
                    let text = e.to_string();
                    if !said.contains(&text) {
                        said = format!("{said}: {text}");
                    }
                    cause = e.source();
                }
                Failure::Unusable(format!("{place}: {said}"))
            }
            other => other,
        }
    }

    /// The same where there is such a place.
    pub(crate) fn at_some(self, place: Option<&str>) -> Self {
        match place {
            Some(place) => self.at(place),
            None => self,
        }
    }

    /// The same of a check that prints as it goes: where nobody reads it any more it has not been done, and must not look as if.
    pub(crate) fn of_check(self) -> Self {
        match self {
            Failure::ReaderLeft => {
                Failure::Check("nobody read the check to its end, so it was not finished".into())
            }
            other => other,
        }
    }

    /// A file that can't be read or written.
    pub(crate) fn file(doing: &str, path: &std::path::Path, e: &io::Error) -> Self {
        Failure::Unusable(format!("can't {doing} {}: {e}", path.display()))
    }
}

/// The first line of what [`Failure::report`] prints, for those who go on after it.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::ReaderLeft => f.write_str("nobody reads the output"),
            Failure::Stopped { signal } => write!(f, "stopped by signal {signal}"),
            Failure::Check(what) | Failure::Refused(what) | Failure::Unusable(what) => f.write_str(what),
            Failure::Machine(e) => write!(f, "{e}"),
        }
    }
}

/// Whether an error of a run's folder is a refusal.
fn refuses(e: &(dyn Error + 'static)) -> bool {
    matches!(
        e.downcast_ref::<CheckpointError>(),
        Some(CheckpointError::Refused { .. } | CheckpointError::Locked { .. })
    ) || matches!(e.downcast_ref::<CompareError>(), Some(CompareError::Refused(_)))
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(e: E) -> Self {
        Failure::Machine(Box::new(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_help() {
        let io = || io::Error::other("no");
        let all = [
            (Failure::ReaderLeft, 0),
            (Failure::Check(String::new()), 1),
            (Failure::Refused(String::new()), 1),
            (Failure::Unusable(String::new()), 3),
            (Failure::from(io()), 3),
            (Failure::Stopped { signal: 2 }, 130),
            (Failure::Stopped { signal: 15 }, 143),
        ];
        for (failure, code) in all {
            assert_eq!(failure.code(), code, "{failure:?}");
            assert!(code < 101 || matches!(failure, Failure::Stopped { .. }));
            assert!(EXIT_CODES.lines().any(|l| l.trim_start().starts_with(&code.to_string())), "{code}");
        }
    }
}
