use super::source::{DataOptions, load_bars, resolve};
use crate::Failure;
use clap::Subcommand;
use foxhunt_data::inspect;

/// Look at files of bars
#[derive(Subcommand)]
pub(crate) enum DataCommand {
    /// Show what was understood of a file, what was repaired, and what its bars are like
    Inspect {
        /// A file of bars; the embedded sample if left out
        file: Option<String>,
        #[command(flatten)]
        how: DataOptions,
    },
}

pub(crate) fn run(command: &DataCommand) -> Result<(), Failure> {
    match command {
        DataCommand::Inspect { file, how } => {
            let files: Vec<String> = file.iter().cloned().collect();
            let config = resolve(None, None, &how.as_set())?;
            say!("{}", inspect(&load_bars(&files, &config.data)?).to_string().trim_end())
        }
    }
}
