use std::{error::Error, process::ExitCode};

/// Why a command failed, and its exit code. Codes: 1 what was checked doesn't hold, 2 wrong usage (clap's), 3 what the
/// command needs didn't work (configuration, data, device, disk), 130 interrupted and saved. 101 would be a panic.
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
            Failure::Interrupted => ExitCode::from(130),
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
