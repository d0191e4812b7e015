use super::{
    offered, open,
    source::{load_own_markets, own_config},
};
use crate::Failure;
use clap::Args;
use foxhunt_core::DType;
use foxhunt_device::{Device, DeviceChoice, training_dtype};
use foxhunt_kernels::fused::DqnKernels;
use foxhunt_testkit::{
    allowed, cases, check_case, check_fused, check_fused_act, fused_cases, fused_repeats, numbers,
};
use foxhunt_train::{Market, Memory, Trainer};
use foxhunt_verify::{parities, reference};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Show the device that a run would use; with --check, run every operation's cases on it and hold it against the CPU
#[derive(Args)]
#[command(after_help = "Examples:
  foxhunt device
  foxhunt device --check --only adamw
  foxhunt device --memory runs/first")]
pub(crate) struct DeviceArgs {
    /// auto, cpu, cuda or cuda:n
    #[arg(long, default_value = "auto", value_parser = offered::device(), hide_possible_values = true)]
    device: DeviceChoice,
    /// Run all cases (against F64 references, finite differences, and the CPU's bits), all experiments on numbers, and
    /// environments, acting and training beside the reference CPU's
    #[arg(long)]
    check: bool,
    /// With --check, only what has a name that contains this
    #[arg(long, value_name = "NAME", requires = "check")]
    only: Option<String>,
    /// Device memory by purpose of the training of a run: lays it out as `train --resume` would, and runs nothing
    #[arg(long, value_name = "RUN", conflicts_with = "check")]
    memory: Option<PathBuf>,
    /// With --memory, print JSON
    #[arg(long, requires = "memory")]
    json: bool,
}

pub(crate) fn run(args: &DeviceArgs) -> Result<(), Failure> {
    let device = open(args.device)?;
    if let Some(run) = &args.memory {
        return memory(run, &device, args.json);
    }
    if args.check {
        return show(&device).and_then(|()| check(&device, args.only.as_deref())).map_err(Failure::of_check);
    }
    show(&device)
}

fn show(device: &Device) -> Result<(), Failure> {
    say!("device          {device}")?;
    say!("training dtype  {}", training_dtype(device))?;
    for library in Device::libraries() {
        say!("library         {library}")?;
    }
    Ok(())
}

/// Memory of the training of `run` on `device`, which may be another than the run's.
fn memory(run: &Path, device: &Device, as_json: bool) -> Result<(), Failure> {
    let (config, _) = own_config(run)?;
    let (bars, setting) = load_own_markets(run, &config)?;
    let own = setting.and_then(|s| s.dtype().ok());
    let dtype = own.unwrap_or_else(|| training_dtype(device));
    let memory: Memory = Trainer::on(device, dtype, &config, &Market::all(bars, &config)?)?.memory();
    let members = config.member_ids().len();
    if as_json {
        let found = json!({
            "run": run.display().to_string(),
            "device": device.to_string(),
            "dtype": dtype.name(),
            "population": members,
            "memory": memory,
        });
        return say!("{found}");
    }
    say!("{}: {dtype}, P {members}, on {device}", run.display())?;
    say!("{}", memory.to_string().trim_end())
}

/// What ran, and what failed.
#[derive(Default)]
struct Count {
    ran: usize,
    failed: usize,
}

impl Count {
    /// Counts one thing that ran, and lists what is wrong with it under its line.
    fn add(&mut self, problems: &[String]) -> Result<(), Failure> {
        for p in problems {
            say!("    {p}")?;
        }
        self.ran += 1;
        self.failed += usize::from(!problems.is_empty());
        Ok(())
    }
}

fn short(difference: f64) -> String {
    if difference == 0.0 { "0".into() } else { format!("{difference:.1e}") }
}

fn result(problems: &[String]) -> &'static str {
    if problems.is_empty() { "ok" } else { "FAILED" }
}

fn check(device: &Device, only: Option<&str>) -> Result<(), Failure> {
    let mut count = Count::default();
    let chosen = |name: &str| only.is_none_or(|o| name.contains(o));
    check_cases(device, &chosen, &mut count)?;
    check_numbers(device, &chosen, &mut count)?;
    check_fused_steps(device, &chosen, &mut count)?;
    check_parity(device, &chosen, &mut count)?;
    let Count { ran, failed } = count;
    if ran == 0 {
        return Err(Failure::Unusable(format!(
            "no check is called {}: leave --only out to see all",
            only.unwrap_or("")
        )));
    }
    say!("{} passed, {failed} failed", ran - failed)?;
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure::Check(format!("{failed} of {ran} checks failed on {device}")))
    }
}

fn check_cases(device: &Device, chosen: &dyn Fn(&str) -> bool, count: &mut Count) -> Result<(), Failure> {
    let chosen: Vec<_> = cases().into_iter().filter(|c| chosen(c.name())).collect();
    if chosen.is_empty() {
        return Ok(());
    }
    let cpu = [Device::cpu()];
    let mut products = DType::ALL.map(|dtype| (dtype, None));
    say!("\n{:<24} {:<5} {:>5} {:>10} {:>10}  result", "case", "dtype", "runs", "compared", "difference")?;
    for case in &chosen {
        for (dtype, largest) in &mut products {
            let r = check_case(case.as_ref(), *dtype, device, &cpu);
            say!(
                "{:<24} {dtype:<5} {:>5} {:>10} {:>10}  {}",
                r.name,
                r.runs,
                r.compared,
                short(r.difference),
                result(&r.failures)
            )?;
            count.add(&r.failures)?;
            if !case.exact() {
                *largest = Some(largest.unwrap_or(0.0_f64).max(r.difference));
            }
        }
    }
    for (dtype, largest) in products {
        if let Some(largest) = largest {
            say!(
                "matrix products, {dtype}: largest difference {} of {:.1e} allowed",
                short(largest),
                allowed(dtype)
            )?;
        }
    }
    Ok(())
}

fn check_numbers(device: &Device, chosen: &dyn Fn(&str) -> bool, count: &mut Count) -> Result<(), Failure> {
    let chosen: Vec<_> = numbers().into_iter().filter(|n| chosen(n.name)).collect();
    if chosen.is_empty() {
        return Ok(());
    }
    say!("\n{:<24} result", "numbers")?;
    for n in &chosen {
        let problems: Vec<String> = match (n.measure)(device) {
            Ok(all) => all.iter().filter(|m| !m.holds()).map(ToString::to_string).collect(),
            Err(e) => vec![e.to_string()],
        };
        say!("{:<24} {}", n.name, result(&problems))?;
        count.add(&problems)?;
    }
    Ok(())
}

/// The fused step beside the plan's span, where the device has it.
fn check_fused_steps(
    device: &Device,
    chosen: &dyn Fn(&str) -> bool,
    count: &mut Count,
) -> Result<(), Failure> {
    let pairs =
        [(DqnKernels::Hopper, DType::Bf16), (DqnKernels::Mma, DType::Bf16), (DqnKernels::Mma, DType::F32)];
    for (kernels, dtype) in pairs {
        let title = format!("fused step, {kernels} in {dtype}");
        if kernels.exist_on(device) && chosen(&title) {
            check_fused_kernels(device, (kernels, dtype, &title), count)?;
        }
    }
    Ok(())
}

fn check_fused_kernels(
    device: &Device,
    (kernels, dtype, title): (DqnKernels, DType, &str),
    count: &mut Count,
) -> Result<(), Failure> {
    say!("\n{title:<52} {:>10}  result", "difference")?;
    for case in fused_cases(kernels, dtype) {
        let s = &case.shape;
        let name = format!(
            "{}-{}-{}-{}x{}, {:?}x{}, B {}, P {}",
            s.inputs,
            s.trunk[0],
            s.trunk[1],
            s.streams(),
            s.stream,
            s.head.actions,
            s.head.atoms,
            case.batch,
            case.members
        );
        let both = check_fused(device, &case).and_then(|mut all| {
            if kernels == DqnKernels::Hopper {
                all.push(check_fused_act(device, &case, 3)?);
            }
            Ok(all)
        });
        let (largest, problems) = match (both, fused_repeats(device, &case)) {
            (Ok(all), Ok(changed)) => {
                let mut problems: Vec<String> = all
                    .iter()
                    .filter(|a| !a.holds())
                    .map(|a| format!("{}: {:.3} of {:.3} allowed", a.what, a.difference, a.allowed))
                    .collect();
                if changed > 0 {
                    problems.push(format!("{changed} bytes of the weights differ between two runs"));
                }
                (all.iter().map(|a| a.difference).fold(0.0, f64::max), problems)
            }
            (Err(e), _) | (_, Err(e)) => (f64::NAN, vec![e.to_string()]),
        };
        say!("{name:<52} {:>10}  {}", short(largest), result(&problems))?;
        count.add(&problems)?;
    }
    Ok(())
}

fn check_parity(device: &Device, chosen: &dyn Fn(&str) -> bool, count: &mut Count) -> Result<(), Failure> {
    let chosen: Vec<_> = parities().into_iter().filter(|p| chosen(p.name)).collect();
    if chosen.is_empty() {
        return Ok(());
    }
    let reference = reference(device);
    say!("\n{:<24} {:<5} {:<6}  against {reference}", "parity", "dtype", "result")?;
    for p in &chosen {
        for dtype in DType::ALL {
            let (said, problems) = match (p.compare)(device, &reference, dtype) {
                Ok(c) => (c.said, c.found),
                Err(e) => ("not compared".into(), vec![e.to_string()]),
            };
            say!("{:<24} {dtype:<5} {:<6}  {said}", p.name, result(&problems))?;
            count.add(&problems)?;
        }
    }
    Ok(())
}
