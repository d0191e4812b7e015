use std::{error::Error, process::ExitCode};

/// Why a command failed, and its exit code. Codes: 1 what was checked doesn't hold, 2 wrong usage (clap's), 3 the
/// machine (device, memory, files), all below 101, which is a panic's.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A check of the command's own failed; it has said what.
    Check(String),
    /// Something that the command needs didn't work.
    Machine(Box<dyn Error>),
}

impl Failure {
    /// Prints the chain of causes and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Check(what) => {
                eprintln!("foxhunt: {what}");
                ExitCode::from(1)
            }
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
