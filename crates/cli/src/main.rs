//! The foxhunt command line.

#[macro_use]
mod output;
mod commands;
mod failure;
mod live;
mod tensorboard;

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};
use failure::{EXIT_CODES, Failure};
use std::process::ExitCode;

/// Trains trading models on one GPU, or on a CPU with the same kernels.
#[derive(Parser)]
#[command(name = "foxhunt", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Train(commands::train::TrainArgs),
    Backtest(commands::backtest::BacktestArgs),
    Act(commands::act::ActArgs),
    Compare(commands::compare::CompareArgs),
    #[command(subcommand)]
    Verify(commands::verify::VerifyCommand),
    #[command(subcommand)]
    Data(commands::data::DataCommand),
    Features(commands::features::FeaturesArgs),
    #[command(subcommand)]
    Runs(commands::runs::RunsCommand),
    #[command(subcommand)]
    Config(commands::config::ConfigCommand),
    Device(commands::device::DeviceArgs),
    #[command(subcommand)]
    Bench(commands::bench::BenchCommand),
    Completions(commands::completions::CompletionsArgs),
    Reference(commands::reference::ReferenceArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Clap doesn't say which, or what to do.
            if e.kind() == ErrorKind::InvalidUtf8 {
                note!(
                    "foxhunt: names of files that a run records must be UTF-8: rename the file, or link to it"
                );
            }
            e.exit()
        }
    };
    let result = match cli.command {
        Command::Train(args) => commands::train::run(&args),
        Command::Backtest(args) => commands::backtest::run(&args),
        Command::Act(args) => commands::act::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Verify(command) => commands::verify::run(&command),
        Command::Data(command) => commands::data::run(&command),
        Command::Features(args) => commands::features::run(&args),
        Command::Runs(command) => commands::runs::run(&command),
        Command::Config(command) => commands::config::run(&command),
        Command::Device(args) => commands::device::run(&args),
        Command::Bench(command) => commands::bench::run(&command),
        Command::Completions(args) => commands::completions::run(&args, Cli::command()),
        Command::Reference(args) => commands::reference::run(&args, Cli::command()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

#[cfg(test)]
mod examples {
    //! Every command has examples, and clap takes them.

    use super::Cli;
    use clap::{Command, CommandFactory, Parser};

    /// Commands and groups of them, by path.
    fn commands<'a>(path: &str, command: &'a Command, found: &mut Vec<(String, &'a Command)>) {
        let path = format!("{path} {}", command.get_name());
        command.get_subcommands().for_each(|sub| commands(&path, sub, found));
        found.push((path, command));
    }

    #[test]
    fn parse() {
        let root = Cli::command();
        let mut found = Vec::new();
        root.get_subcommands().for_each(|command| commands(" foxhunt", command, &mut found));
        assert!(found.len() > 20);
        for (path, command) in found {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let help = help.replace("\\\n", " ");
            let of = |line: &&str| line.starts_with("  foxhunt ") && !line.contains(" > ");
            let examples: Vec<&str> = help.lines().filter(of).map(str::trim).collect();
            assert!(help.contains("Examples:") && !examples.is_empty(), "{path} has no examples");
            for example in examples {
                assert!(example.starts_with(path.trim()), "{example} is not of {path}");
                if let Err(e) = Cli::try_parse_from(example.split_whitespace()) {
                    panic!("{example}: {e}");
                }
            }
        }
    }
}
