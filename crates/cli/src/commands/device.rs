use super::open;
use crate::Failure;
use clap::Args;
use foxhunt_core::DType;
use foxhunt_device::{Device, DeviceChoice, training_dtype};
use foxhunt_testkit::{cases, check_case};

/// Show the device that a run would use; with --check, run every operation's cases on it
#[derive(Args)]
pub(crate) struct DeviceArgs {
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Run all cases: against F64 references, finite differences, and the CPU's bits
    #[arg(long)]
    check: bool,
    /// With --check, only the cases whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

pub(crate) fn run(args: &DeviceArgs) -> Result<(), Failure> {
    let device = open(args.device)?;
    println!("device          {device}");
    println!("training dtype  {}", training_dtype(&device));
    for library in Device::libraries() {
        println!("library         {library}");
    }
    if args.check { check(&device, args.only.as_deref()) } else { Ok(()) }
}

fn check(device: &Device, only: Option<&str>) -> Result<(), Failure> {
    let reference = [Device::cpu()];
    println!("\n{:<24} {:<5} {:>5} {:>10} {:>10}  result", "case", "dtype", "runs", "compared", "difference");
    let (mut ran, mut failed) = (0, 0);
    for case in cases().iter().filter(|c| only.is_none_or(|o| c.name().contains(o))) {
        for dtype in DType::ALL {
            let r = check_case(case.as_ref(), dtype, device, &reference);
            ran += 1;
            let result = if r.failures.is_empty() { "ok" } else { "FAILED" };
            println!(
                "{:<24} {dtype:<5} {:>5} {:>10} {:>10}  {result}",
                r.name,
                r.runs,
                r.compared,
                if r.difference == 0.0 { "0".to_owned() } else { format!("{:.1e}", r.difference) }
            );
            for f in &r.failures {
                println!("    {f}");
            }
            failed += usize::from(!r.failures.is_empty());
        }
    }
    println!("{} passed, {failed} failed", ran - failed);
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure::Check(format!("{failed} of {ran} cases failed on {device}")))
    }
}
