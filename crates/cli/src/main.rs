//! The foxhunt command line.

#[macro_use]
mod output;
mod commands;
mod failure;

use clap::{Parser, Subcommand};
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
    #[command(subcommand)]
    Runs(commands::runs::RunsCommand),
    #[command(subcommand)]
    Config(commands::config::ConfigCommand),
    Device(commands::device::DeviceArgs),
    #[command(subcommand)]
    Bench(commands::bench::BenchCommand),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Train(args) => commands::train::run(&args),
        Command::Backtest(args) => commands::backtest::run(&args),
        Command::Act(args) => commands::act::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Verify(command) => commands::verify::run(&command),
        Command::Data(command) => commands::data::run(&command),
        Command::Runs(command) => commands::runs::run(&command),
        Command::Config(command) => commands::config::run(&command),
        Command::Device(args) => commands::device::run(&args),
        Command::Bench(command) => commands::bench::run(&command),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
