use crate::{Case, CaseError, Output, Random, Setting};
use foxhunt_core::rng::{Purpose, below, draw, member_seed};
use foxhunt_device::Device;
use foxhunt_kernels::{loss::Outcome, optim::Hyper};
use foxhunt_nn::{
    Options, Plan,
    op::{ColumnReplay, Optimise},
};

pub(super) fn cases() -> Vec<Box<dyn Case>> {
    vec![Box::new(Column)]
}

struct Column;

impl Case for Column {
    fn name(&self) -> &'static str {
        "column_replay"
    }

    /// Rows of the replay, width of a state, batch.
    fn sizes(&self) -> Vec<Vec<usize>> {
        [[2, 1, 1], [33, 13, 31], [1000, 130, 300]].map(Vec::from).into()
    }

    fn exact(&self) -> bool {
        true
    }

    fn run(&self, device: &Device, s: &Setting, check: bool) -> Result<Vec<Output>, CaseError> {
        let (rows, width, batch) = (s.size[0], s.size[1], s.size[2]);
        let mut plan = Plan::new(s.dtype, s.members);
        let (_, hyper) = Optimise::state(&mut plan, "q");
        let t = ColumnReplay::push(&mut plan, (rows, width, 3), batch, hyper);
        let runtime = plan.compile(device, Options { guard_bytes: 64 })?;
        let mut random = Random::new(s.seed);
        let states: Vec<f32> =
            (0..rows * width).map(|_| if s.wild { random.wild() } else { random.normal() as f32 }).collect();
        runtime.write(t.state, &states)?;
        let states = runtime.read(t.state)?;
        let actions: Vec<u8> = (0..rows * 3).map(|_| random.below(9) as u8).collect();
        runtime.write_raw(t.actions, &actions)?;
        let outcome: Vec<Outcome> = (0..rows)
            .map(|_| Outcome {
                return_q20: random.bits() as i32,
                discount_q31: random.bits() as u32,
                index: random.bits() as u32,
                steps: random.bits() as u32,
            })
            .collect();
        runtime.write_raw(t.outcome, &outcome)?;
        let draws = 7_u64;
        let seeds: Vec<u64> = (0..s.members as u64).map(|m| member_seed(s.seed, m)).collect();
        runtime.write_raw(t.draws, &vec![draws; s.members])?;
        runtime.write_raw(
            hyper,
            &seeds.iter().map(|seed| Hyper { seed: *seed, ..Default::default() }).collect::<Vec<_>>(),
        )?;
        for t in [t.index, t.x, t.batch_actions, t.batch_outcome] {
            runtime.fill(t, 0xff)?;
        }
        runtime.run("main", 1)?;
        device.synchronize()?;
        runtime.check_guards()?;

        let index = runtime.read_raw::<u32>(t.index)?;
        let x = runtime.read(t.x)?;
        let got_actions = runtime.read_raw::<u8>(t.batch_actions)?;
        let got_outcome = runtime.read_raw::<Outcome>(t.batch_outcome)?;
        let counted = runtime.read_raw::<u64>(t.draws)?;
        if counted.iter().any(|n| *n != draws + 1) {
            return Err(CaseError::Differs(format!(
                "{counted:?} batches counted after {draws} and one more"
            )));
        }
        if check {
            for m in 0..s.members {
                for b in 0..batch {
                    let want = below(draw(seeds[m], draws, 0, Purpose::Sample, b as u32)[0], rows as u32 - 1);
                    let got = index[m * batch + b];
                    if got != want {
                        return Err(CaseError::Differs(format!("sample {b} is row {got}, not {want}")));
                    }
                    let row = want as usize;
                    let state = |r: usize| &states[r * width..(r + 1) * width];
                    let at = |r: usize| &x[(m * 2 * batch + r) * width..][..width];
                    let sample = m * batch + b;
                    let same = at(b) == state(row)
                        && at(batch + b) == state(row + 1)
                        && got_actions[3 * sample..3 * sample + 3] == actions[3 * row..3 * row + 3]
                        && got_outcome[sample] == outcome[row];
                    if !same {
                        return Err(CaseError::Differs(format!("sample {b} of member {m} is not row {row}")));
                    }
                }
            }
        }
        let bytes = |t| -> Result<Vec<u8>, CaseError> { Ok(runtime.read_bytes(t)?) };
        Ok(vec![
            Output { name: "index".into(), bytes: bytes(t.index)?, values: Vec::new() },
            Output { name: "x".into(), bytes: bytes(t.x)?, values: x },
            Output { name: "actions".into(), bytes: bytes(t.batch_actions)?, values: Vec::new() },
            Output { name: "outcome".into(), bytes: bytes(t.batch_outcome)?, values: Vec::new() },
        ])
    }
}
