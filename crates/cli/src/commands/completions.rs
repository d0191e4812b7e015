use crate::{Failure, output};
use clap::{Args, Command};
use clap_complete::{Shell, generate};

/// Print a script by which a shell completes foxhunt's commands, options and their values
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt completions bash
  foxhunt completions zsh

Where shells look for it:
  bash        foxhunt completions bash > ~/.local/share/bash-completion/completions/foxhunt
  zsh         foxhunt completions zsh > DIR/_foxhunt, with DIR in $fpath
  fish        foxhunt completions fish > ~/.config/fish/completions/foxhunt.fish
  powershell  foxhunt completions powershell >> $PROFILE")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, mut command: Command) -> Result<(), Failure> {
    // Into memory first: the generators panic where nobody reads.
    let mut script = Vec::new();
    generate(args.shell, &mut command, "foxhunt", &mut script);
    output::bytes(&script)
}
