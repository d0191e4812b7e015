use std::{error::Error, process::ExitCode};

/// What `--help` says of exit codes; README.md has the same.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 done; 1 what was checked does not hold; 2 wrong usage; \
3 configuration, data, device or disk; 4 interrupted";
/// Of a run that the user stopped.
pub(crate) const INTERRUPTED: u8 = 4;

/// Why a command failed, and its exit code, as [`EXIT_CODES`] has them. 101 would be a panic.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A check of the command's own failed; it has said what.
    Check(String),
    /// Something that the command needs didn't work.
    Machine(Box<dyn Error>),
    /// The user stopped it; it has saved and said so.
    Interrupted,
}

impl Failure {
    /// Prints the chain of causes and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Check(what) => {
                eprintln!("foxhunt: {what}");
                ExitCode::from(1)
            }
            Failure::Interrupted => ExitCode::from(INTERRUPTED),
            Failure::Machine(e) => {
                eprintln!("foxhunt: {e}");
                let mut cause = e.source();
                while let Some(e) = cause {
                    eprintln!("  because: {e}");
                    cause = e.source();
                }
                ExitCode::from(3)
            }
        }
    }
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(e: E) -> Self {
        Failure::Machine(Box::new(e))
    }
}
