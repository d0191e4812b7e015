use super::train::size_offered;
use crate::Failure;
use clap::Subcommand;
use foxhunt_train::{Size, documented, schema};

/// Print the configuration: every key with its default, or a schema for editors
#[derive(Subcommand)]
#[command(after_help = "Examples:
  foxhunt config default
  foxhunt config schema")]
pub(crate) enum ConfigCommand {
    /// Print a file with every key, its default, what it means and what it may be
    #[command(after_help = "Examples:
  foxhunt config default
  foxhunt config default --size study")]
    Default {
        /// Whose defaults: small, study or bench
        #[arg(long, value_parser = size_offered(), hide_possible_values = true, default_value = "small")]
        size: Size,
    },
    /// Print the JSON Schema of a configuration file, by which editors complete and check it
    #[command(after_help = "Examples:
  foxhunt config schema

With it in foxhunt.schema.json, this as a file's first line is understood by editors with Taplo:
  #:schema ./foxhunt.schema.json")]
    Schema {
        /// Whose defaults: small, study or bench
        #[arg(long, value_parser = size_offered(), hide_possible_values = true, default_value = "small")]
        size: Size,
    },
}

pub(crate) fn run(command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Default { size } => say!("{}", documented(*size)?.trim_end()),
        ConfigCommand::Schema { size } => say!("{}", serde_json::to_string_pretty(&schema(*size))?),
    }
}
