//! The learning rate of a step, against the same line in 128-bit integers: exact.

use crate::{Case, CaseError, Output, Random, Setting};
use foxhunt_core::{Bf16, DType};
use foxhunt_device::{Command, Device};
use foxhunt_kernels::{Element, optim::Hyper, test::schedule};
use foxhunt_nn::{Options, Plan};

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    vec![Box::new(Schedule)]
}

struct Schedule;

/// Rates at the start and at the end, and steps between them: falling, rising, level, without a schedule, and as wide as
/// the numbers are.
const LINES: [(u32, u32, u32); 8] = [
    (329_853_488, 0, 100_000),
    (329_853_488, 32_985_349, 7),
    (1, u32::MAX, u32::MAX),
    (u32::MAX, 0, u32::MAX),
    (u32::MAX, u32::MAX, 3),
    (12_345, 99, 1),
    (329_853_488, 5, 0),
    (u32::MAX, 1, 0),
];

/// The rate in F32 as the document says it: a whole number of 2^-40, rounded towards the start of the line.
fn rate(h: &Hyper, step: u64) -> f32 {
    let (start, end, steps) = (i128::from(h.lr_q40), i128::from(h.lr_end_q40), i128::from(h.lr_steps));
    let done = i128::from(step - 1).min(steps);
    let lr = if steps == 0 { start } else { start + (end - start) * done / steps };
    lr as f32 * 2_f32.powi(-40)
}

impl Case for Schedule {
    fn name(&self) -> &'static str {
        "learning_rate"
    }

    /// Which of the lines.
    fn sizes(&self) -> Vec<Vec<usize>> {
        (0..LINES.len()).map(|i| vec![i]).collect()
    }

    fn exact(&self) -> bool {
        true
    }

    fn run(&self, device: &Device, s: &Setting, check: bool) -> Result<Vec<Output>, CaseError> {
        let (start, end, length) = LINES[s.size[0]];
        // The first step, the middle, the last of the line, those after it, and any.
        let n = u64::from(length);
        let mut steps = vec![1, 2, n / 2 + 1, n.max(1), n + 1, n + 2, u64::from(u32::MAX), 1 << 32, u64::MAX];
        let mut random = Random::new(s.seed);
        steps.extend((0..61).map(|_| 1 + random.bits() % (n + 1)));
        let mut plan = Plan::new(s.dtype, s.members);
        let hyper = plan.buffer("hyper", Element::of::<Hyper>(), 1, 1);
        let at = plan.buffer("steps", Element::U64, 1, steps.len());
        let to = plan.real_buffer("rate", 1, steps.len());
        plan.run_foreign("schedule", &[hyper, at], &[to], move |cx| {
            let views = (cx.view(hyper), cx.view(at));
            Ok(vec![Command::Launch(schedule(cx.dtype(), cx.members(), views, cx.view(to))?)])
        });
        let runtime = plan.compile(device, Options { guard_bytes: 64 })?;
        // Members have lines of their own: the second starts lower.
        let hypers: Vec<Hyper> = (0..s.members as u32)
            .map(|m| Hyper {
                lr_q40: start - start.min(m),
                lr_end_q40: end,
                lr_steps: length,
                ..Hyper::default()
            })
            .collect();
        runtime.write_raw(hyper, &hypers)?;
        runtime.write_raw(at, &steps.repeat(s.members))?;
        runtime.fill(to, 0xff)?;
        runtime.run("main", 1)?;
        device.synchronize()?;
        runtime.check_guards()?;
        let got = runtime.read(to)?;
        if check {
            for (h, got) in hypers.iter().zip(got.chunks(steps.len())) {
                for (step, got) in steps.iter().zip(got) {
                    let want = rate(h, *step);
                    let want = if s.dtype == DType::Bf16 { Bf16::from_f32(want).to_f32() } else { want };
                    if got.to_bits() != want.to_bits() {
                        return Err(CaseError::Differs(format!(
                            "step {step} of {h:?}: {got:e}, not {want:e}"
                        )));
                    }
                }
            }
        }
        Ok(vec![Output { name: "rate".into(), bytes: runtime.read_bytes(to)?, values: got }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_kernels::optim::AdamSettings;

    fn settings(end: f64, steps: u32) -> Hyper {
        let settings = AdamSettings {
            learning_rate_end: end,
            learning_rate_steps: steps,
            weight_decay: 0.0,
            ..AdamSettings::DEFAULT
        };
        Hyper::new(&settings, 1)
    }

    #[test]
    fn the_reference_is_the_line_that_is_meant() {
        let h = settings(3e-5, 1000);
        let close = |step: u64, want: f64| {
            let got = f64::from(rate(&h, step));
            assert!((got / want - 1.0).abs() < 1e-7, "step {step}: {got}, not {want}");
        };
        close(1, 3e-4);
        close(501, 1.65e-4);
        close(1000, 3e-4 - 2.7e-4 * 0.999);
        close(1001, 3e-5);
        close(u64::MAX, 3e-5);
        // A constant rate is the number that was there before there was a schedule.
        for h in [settings(0.0, 0), settings(3e-4, 0), settings(3e-4, 50)] {
            for step in [1, 25, 50, 51, 1 << 40] {
                assert_eq!(rate(&h, step).to_bits(), (h.lr_q40 as f32 * 2_f32.powi(-40)).to_bits());
            }
        }
    }
}
