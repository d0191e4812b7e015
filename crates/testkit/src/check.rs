use crate::{Case, CaseError, Output, Setting};
use foxhunt_core::DType;
use foxhunt_device::Device;

/// What became of one case at one dtype.
#[derive(Clone, Debug)]
pub struct CaseReport {
    /// Its name.
    pub name: &'static str,
    /// Storage type.
    pub dtype: DType,
    /// Settings run.
    pub runs: usize,
    /// Result elements compared between the device and the reference device.
    pub compared: usize,
    /// Largest difference between the two, relative to the result's root mean square; 0 where bits are equal.
    pub difference: f64,
    /// What failed, with the setting that replays it.
    pub failures: Vec<String>,
}

/// Relative difference allowed between library matrix products of two devices: both accumulate in F32 in their own
/// order and round once, so elements differ by an ulp of the storage type at most, here of the result's scale.
pub fn allowed(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => 2e-5,
        DType::Bf16 => 1.6e-2,
    }
}

fn compare(case: &dyn Case, dtype: DType, got: &[Output], want: &[Output]) -> Result<(usize, f64), String> {
    let (mut compared, mut worst) = (0, 0.0_f64);
    for (a, b) in got.iter().zip(want) {
        compared += a.values.len().max(a.bytes.len() / 4);
        if a.bytes == b.bytes {
            continue;
        }
        if case.exact() || a.values.is_empty() {
            let at = a.bytes.iter().zip(&b.bytes).position(|(x, y)| x != y).unwrap_or(0);
            return Err(format!("{}: bits differ from byte {at} on", a.name));
        }
        let n = b.values.len() as f64;
        let scale = (b.values.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / n).sqrt().max(1e-30);
        for (i, (x, y)) in a.values.iter().zip(&b.values).enumerate() {
            let d = f64::from((x - y).abs()) / scale.max(f64::from(y.abs()));
            worst = worst.max(d);
            if !(d <= allowed(dtype)) {
                return Err(format!("{}: element {i} is {x:e} here and {y:e} there", a.name));
            }
        }
    }
    Ok((compared, worst))
}

/// Runs a case at all its sizes, with one and with three members, ordinary and wild inputs: on `device` against the
/// F64 reference, and against every one of `others` bit for bit (or within the tolerance of library products).
pub fn check_case(case: &dyn Case, dtype: DType, device: &Device, others: &[Device]) -> CaseReport {
    let mut report =
        CaseReport { name: case.name(), dtype, runs: 0, compared: 0, difference: 0.0, failures: Vec::new() };
    let mut seed = 1;
    for size in case.sizes() {
        for members in [1, 3] {
            for wild in [false, true] {
                if wild && !case.exact() {
                    continue;
                }
                seed += 1;
                let s = Setting { dtype, members, size: size.clone(), seed, wild };
                report.runs += 1;
                if let Err(e) = run(case, &s, device, others, &mut report) {
                    report
                        .failures
                        .push(format!("{e} [size {:?}, P {members}, seed {seed}, wild {wild}]", s.size));
                }
            }
        }
    }
    report
}

fn run(
    case: &dyn Case,
    s: &Setting,
    device: &Device,
    others: &[Device],
    report: &mut CaseReport,
) -> Result<(), CaseError> {
    let got = case.run(device, s, !s.wild)?;
    for other in others {
        let want = case.run(other, s, false)?;
        let (compared, worst) = compare(case, s.dtype, &got, &want)
            .map_err(|e| CaseError::Differs(format!("{device} against {other}: {e}")))?;
        report.compared += compared;
        report.difference = report.difference.max(worst);
    }
    Ok(())
}
