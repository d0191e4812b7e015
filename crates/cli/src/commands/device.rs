use super::open;
use crate::Failure;
use clap::Args;
use foxhunt_core::DType;
use foxhunt_device::{Device, DeviceChoice, training_dtype};
use foxhunt_testkit::{cases, check_case, numbers};

/// Show the device that a run would use; with --check, run every operation's cases on it
#[derive(Args)]
pub(crate) struct DeviceArgs {
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Run all cases (against F64 references, finite differences, and the CPU's bits) and all experiments on numbers
    #[arg(long)]
    check: bool,
    /// With --check, only the cases whose name contains this
    #[arg(long, value_name = "NAME", requires = "check")]
    only: Option<String>,
}

pub(crate) fn run(args: &DeviceArgs) -> Result<(), Failure> {
    let device = open(args.device)?;
    say!("device          {device}")?;
    say!("training dtype  {}", training_dtype(&device))?;
    for library in Device::libraries() {
        say!("library         {library}")?;
    }
    if args.check { check(&device, args.only.as_deref()) } else { Ok(()) }
}

fn check(device: &Device, only: Option<&str>) -> Result<(), Failure> {
    let reference = [Device::cpu()];
    say!("\n{:<24} {:<5} {:>5} {:>10} {:>10}  result", "case", "dtype", "runs", "compared", "difference")?;
    let (mut ran, mut failed) = (0, 0);
    for case in cases().iter().filter(|c| only.is_none_or(|o| c.name().contains(o))) {
        for dtype in DType::ALL {
            let r = check_case(case.as_ref(), dtype, device, &reference);
            ran += 1;
            let result = if r.failures.is_empty() { "ok" } else { "FAILED" };
            say!(
                "{:<24} {dtype:<5} {:>5} {:>10} {:>10}  {result}",
                r.name,
                r.runs,
                r.compared,
                if r.difference == 0.0 { "0".to_owned() } else { format!("{:.1e}", r.difference) }
            )?;
            for f in &r.failures {
                say!("    {f}")?;
            }
            failed += usize::from(!r.failures.is_empty());
        }
    }
    say!("\n{:<24} result", "numbers")?;
    for n in numbers().iter().filter(|n| only.is_none_or(|o| n.name.contains(o))) {
        ran += 1;
        let problems: Vec<String> = match (n.measure)(device) {
            Ok(all) => all.iter().filter(|m| !m.holds()).map(ToString::to_string).collect(),
            Err(e) => vec![e.to_string()],
        };
        say!("{:<24} {}", n.name, if problems.is_empty() { "ok" } else { "FAILED" })?;
        for p in &problems {
            say!("    {p}")?;
        }
        failed += usize::from(!problems.is_empty());
    }
    if ran == 0 {
        return Err(Failure::Unusable(format!(
            "no case is called {}: leave --only out to see all",
            only.unwrap_or("")
        )));
    }
    say!("{} passed, {failed} failed", ran - failed)?;
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure::Check(format!("{failed} of {ran} cases failed on {device}")))
    }
}
