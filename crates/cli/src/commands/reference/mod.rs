mod markdown;

use super::place;
use crate::{Failure, output};
use clap::{Args, Command};
use std::{fs, path::PathBuf};

/// Print this reference of all commands, or write it as man pages
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt reference
  foxhunt reference --man man1")]
pub(crate) struct ReferenceArgs {
    /// Write a man page per command into this folder, instead of Markdown to standard output
    #[arg(long, value_name = "DIR")]
    man: Option<PathBuf>,
}

pub(crate) fn run(args: &ReferenceArgs, mut command: Command) -> Result<(), Failure> {
    command.build();
    let Some(folder) = &args.man else { return output::bytes(markdown::page(&command).as_bytes()) };
    place::check_reachable(folder)?;
    fs::create_dir_all(folder).map_err(|e| Failure::file("make the folder", folder, &e))?;
    // As `clap_mangen::generate_to`, whose pages carry the day.
    let mut pages = 0;
    for (path, command) in markdown::all(&command) {
        let name = path.replace(' ', "-");
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).date("").manual("foxhunt").render(&mut page)?;
        place::write_whole(&folder.join(format!("{name}.1")), &page)?;
        pages += 1;
    }
    say!("{pages} pages in {0}; read one with man {0}/foxhunt-train.1", folder.display())
}
