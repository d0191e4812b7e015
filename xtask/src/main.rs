//! What people who work on foxhunt do often.

mod kernels;
mod rules;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <task>

  kernels [--arch N[,N…]] [--dtype bf16|f32] [--define NAME=VALUE]… [--verbose]
      compiles the kernel tree for GPUs with NVRTC and checks that it fits; needs no GPU.
      Each file with the bounds that it names in lines '// bounds: NAME=VALUE …', unless --define gives others.
  rules [FOLDER]
      reads the sources of this repository, or of FOLDER's, and reports what the rules on numbers forbid in kernels,
      and structs that differ between kernels and launchers. Compiles nothing.
  help
      prints this.
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some("kernels") => kernels::run(args),
        Some("rules") => rules::run(args),
        Some("help" | "--help" | "-h") => {
            print!("{USAGE}");
            Ok(())
        }
        Some(other) => Err(format!("there is no task '{other}'\n{USAGE}")),
        None => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
