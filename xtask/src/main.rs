//! What people who work on foxhunt do often.

mod kernels;
mod rules;

use std::{fs, path::Path, process::ExitCode};

const USAGE: &str = "usage: cargo xtask <task>

  kernels [--arch N[,N…]] [--dtype bf16|f32] [--only NAME] [--define NAME=VALUE]… [-v|--verbose]
      compiles the kernel tree for GPUs with NVRTC and checks that it fits; needs no GPU. With --only the files alone whose
      name contains NAME; with -v it tells of registers, memory and spills.
      Each file with the bounds that it names in lines '// bounds: NAME=VALUE …', unless --define gives others.
  rules [FOLDER]
      reads the sources of this repository, or of FOLDER's, and reports what the rules on numbers forbid in kernels,
      and structs that differ between kernels and launchers. Compiles nothing.
  reference
      writes docs/cli.md anew from the program's own help.
  soak [KILLS]
      kills a training run at KILLS random moments (200 if left out), goes on with it each time, and compares every byte
      of what it leaves with a run that was never killed. In release mode, some minutes.
  help
      prints this.
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some("kernels") => kernels::run(args),
        Some("rules") => rules::run(args),
        Some("reference") => reference(),
        Some("soak") => soak(args.next().as_deref().unwrap_or("200")),
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

fn reference() -> Result<(), String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let made = std::process::Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "foxhunt", "--", "reference"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|e| format!("can't start cargo: {e}"))?;
    if !made.status.success() {
        return Err("foxhunt reference failed".into());
    }
    fs::write(&page, made.stdout).map_err(|e| format!("can't write {}: {e}", page.display()))
}

fn soak(kills: &str) -> Result<(), String> {
    if kills.parse::<u32>().is_err() {
        return Err(format!("soak takes a number of kills, not '{kills}'"));
    }
    let status = std::process::Command::new(env!("CARGO"))
        .args(["test", "--release", "--package", "foxhunt", "--test", "kill", "--", "--nocapture"])
        .env("FOXHUNT_SOAK_KILLS", kills)
        .status()
        .map_err(|e| format!("can't start cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err("the soak failed".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_task() {
        for task in ["kernels", "rules", "reference", "soak", "help"] {
            assert!(USAGE.lines().any(|l| l.trim_start().starts_with(task)), "{task}");
        }
    }

    /// Guides go stale quietly: what they point at must be there.
    #[test]
    fn guides_name_files_that_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
        let paths: Vec<&str> =
            text.split('`').skip(1).step_by(2).filter(|p| p.contains('/') && !p.contains(' ')).collect();
        assert!(paths.len() >= 15, "{paths:?}");
        for path in paths {
            assert!(root.join(path).exists(), "CONTRIBUTING.md names {path}");
        }
    }
}
