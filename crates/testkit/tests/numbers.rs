//! Every experiment on numbers, on the CPU.

use foxhunt_device::Device;
use foxhunt_testkit::numbers;
use std::time::Instant;

#[test]
fn numbers_lie_in_their_ranges() {
    let device = Device::cpu();
    let mut failures = Vec::new();
    for n in numbers() {
        let start = Instant::now();
        let measured = (n.measure)(&device).unwrap();
        assert!(!measured.is_empty(), "{} measured nothing", n.name);
        println!("{} ({:.2} s)", n.name, start.elapsed().as_secs_f64());
        for m in measured {
            println!("  {m}");
            if !m.holds() {
                failures.push(format!("{}: {m}", n.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
