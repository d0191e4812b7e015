//! Every case on the CPU: against F64, and all builds against one another.

use foxhunt_core::DType;
use foxhunt_device::{Device, Isa};
use foxhunt_testkit::{cases, check_case};

#[test]
fn all_cases_hold_on_every_host_build() {
    let device = Device::cpu();
    let others = [Device::cpu_with(Isa::Base), Device::cpu_with(Isa::Reversed)];
    let mut failures = Vec::new();
    for case in cases() {
        for dtype in DType::ALL {
            let report = check_case(case.as_ref(), dtype, &device, &others);
            println!("{:<22} {dtype:<5} {} runs, {} elements", report.name, report.runs, report.compared);
            if report.compared == 0 {
                failures.push(format!("{} {dtype}: compared nothing", report.name));
            }
            failures.extend(report.failures.iter().map(|f| format!("{} {dtype}: {f}", report.name)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
