//! `foxhunt runs`: what lies in a folder of runs. Reads what runs have left, opens no device, changes nothing.

mod compare;
mod figures;
mod keys;
mod list;
mod run;
mod show;

use crate::Failure;
use clap::Subcommand;

/// List runs, show one, compare several
#[derive(Subcommand)]
#[command(after_help = "Examples:
  foxhunt runs list
  foxhunt runs show runs/first
  foxhunt runs compare runs/first runs/second")]
pub(crate) enum RunsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Compare(compare::CompareArgs),
}

pub(crate) fn run(command: &RunsCommand) -> Result<(), Failure> {
    match command {
        RunsCommand::List(args) => list::run(args),
        RunsCommand::Show(args) => show::run(args),
        RunsCommand::Compare(args) => compare::run(args),
    }
}
