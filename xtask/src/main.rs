//! What people who work on foxhunt do often.

mod kernels;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <task>

  kernels [--arch N[,N…]] [--dtype bf16|f32] [--define NAME=VALUE]… [--verbose]
      compiles the kernel tree for GPUs with NVRTC and checks that it fits; needs no GPU.
      Each file with the bounds that it names in lines '// bounds: NAME=VALUE …', unless --define gives others.
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some("kernels") => kernels::run(args),
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
