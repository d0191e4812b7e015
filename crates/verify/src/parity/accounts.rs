//! Environments, replay and samples of random play, to the bit.

use super::{
    Compared,
    compare::{Place, grouped, verdict},
    worlds::{WORLDS, World},
};
use crate::{VerifyError, dice::throw};
use foxhunt_core::DType;
use foxhunt_device::{Arena, Device, Program};
use foxhunt_env::{Buffer, Environments, MemberSpec, Shape, Tables, Tally, Transition};
use foxhunt_kernels::{Element, TREE, View};
use std::ops::Range;

/// Samples of a batch, not a multiple of what a team takes.
const BATCH: usize = 250;

/// A population, and how long it plays. After each chunk everything is compared; the ring holds more than a chunk, so no
/// transition escapes, and it is not full at the first.
#[derive(Clone, Copy)]
pub(super) struct Play {
    members: usize,
    /// Markets that a member's environments are spread over.
    markets: usize,
    envs: usize,
    chunk: usize,
    chunks: usize,
}

/// One account; more than a team's and not a multiple; many; several members with few; several markets in unequal shares.
pub(super) const PLAYS: [Play; 5] = [
    Play { members: 1, markets: 1, envs: 1, chunk: 100, chunks: 15 },
    Play { members: 3, markets: 1, envs: 33, chunk: 50, chunks: 12 },
    Play { members: 2, markets: 1, envs: 1024, chunk: 20, chunks: 4 },
    Play { members: 5, markets: 1, envs: 7, chunk: 100, chunks: 10 },
    Play { members: 2, markets: 3, envs: 70, chunk: 50, chunks: 6 },
];

// A million steps at least in each storage type, all worlds together.
const _: () = {
    let (mut k, mut steps) = (0, 0);
    while k < PLAYS.len() {
        let Play { members, envs, chunk, chunks, .. } = PLAYS[k];
        steps += members * envs * chunk * chunks;
        k += 1;
    }
    assert!(WORLDS * steps >= 1_000_000);
};

/// What is compared after each chunk; the ring comes first, because it knows the step.
const COMPARED: [Buffer; 10] = [
    Buffer::Ring,
    Buffer::Envs,
    Buffer::Tally,
    Buffer::Actions,
    Buffer::Observation,
    Buffer::Draws,
    Buffer::Indices,
    Buffer::Samples,
    Buffer::BatchActions,
    Buffer::States,
];

/// What tests plant: a change to the checked device's environments, before chunk 0 (none) or after a chunk.
pub(super) type Plant<'a> = &'a dyn Fn(&Environments, Option<usize>) -> Result<(), VerifyError>;

pub(super) fn compare(device: &Device, reference: &Device, dtype: DType) -> Result<Compared, VerifyError> {
    compare_with((device, reference), dtype, &PLAYS, &|_, _| Ok(()))
}

#[derive(Default)]
struct Sum {
    steps: usize,
    samples: usize,
    bytes: usize,
    tally: Tally,
    found: Vec<String>,
}

pub(super) fn compare_with(
    devices: (&Device, &Device),
    dtype: DType,
    plays: &[Play],
    plant: Plant<'_>,
) -> Result<Compared, VerifyError> {
    let mut sum = Sum::default();
    for world in World::all()? {
        for play in plays {
            run(devices, dtype, &world, play, plant, &mut sum)?;
        }
    }
    let Sum { steps, samples, bytes, tally: t, mut found } = sum;
    let met = [
        ("an end of an episode", t.episodes),
        ("a ruin", t.terminated),
        ("a stop", t.stops),
        ("a liquidation", t.liquidations),
    ];
    let missing = met.iter().filter(|(_, n)| *n == 0).map(|(what, _)| format!("play never met {what}"));
    found.extend(missing);
    let said = format!(
        "{} steps, {} samples, {} MB {}; {} episodes, {} ruins, {} stops, {} liquidations",
        grouped(steps),
        grouped(samples),
        grouped(bytes >> 20),
        verdict(&found),
        grouped(t.episodes as usize),
        grouped(t.terminated as usize),
        grouped(t.stops as usize),
        grouped(t.liquidations as usize)
    );
    Ok(Compared { said, found })
}

/// One device's environments, with a program for a step and one for what is looked at after a chunk.
struct Side {
    // Programs go before what they point into.
    step: Program,
    look: Program,
    env: Environments,
    _greedy: Arena,
}

impl Side {
    fn new(
        device: &Device,
        dtype: DType,
        shape: Shape,
        tables: &Tables,
        specs: &[MemberSpec],
        markets: usize,
    ) -> Result<Side, VerifyError> {
        let env = Environments::spread(device, dtype, shape, tables, specs, markets)?;
        let members = env.members();
        let greedy = device.allocate(3 * shape.envs * members)?;
        let envs = 0..shape.envs as u32;
        let fixed: Vec<[u8; 3]> =
            specs.iter().step_by(markets).flat_map(|s| envs.clone().map(|e| throw(!s.seed, 0, e))).collect();
        greedy.write(0, &fixed)?;
        let view = View {
            name: "greedy".into(),
            addr: greedy.addr(),
            element: Element::U8,
            rows: shape.envs,
            cols: 3,
            ld: 3,
            members,
            member_stride: 3 * shape.envs,
        };
        let compile = |commands| Program::compile(device, &TREE, commands);
        let reset = compile(vec![env.reset()?])?;
        reset.run(1)?;
        device.synchronize()?;
        let step = compile(vec![env.act_greedy(&view)?, env.step()?])?;
        let mut commands = vec![env.observe()?];
        commands.extend(env.gather_uniform()?);
        let look = compile(commands)?;
        Ok(Side { step, look, env, _greedy: greedy })
    }

    fn run(&self, steps: usize) -> Result<(), VerifyError> {
        self.step.run(steps as u32)?;
        Ok(self.look.run(1)?)
    }
}

fn run(
    (device, reference): (&Device, &Device),
    dtype: DType,
    world: &World,
    play: &Play,
    plant: Plant<'_>,
    sum: &mut Sum,
) -> Result<(), VerifyError> {
    let (tables, specs) = world.spread(play.members, play.markets, world.market.splits.train.clone())?;
    let shape = world.shape(play.envs, play.chunk + play.chunk / 4, BATCH);
    let here = Side::new(device, dtype, shape, &tables, &specs, play.markets)?;
    let there = Side::new(reference, dtype, shape, &tables, &specs, play.markets)?;
    plant(&here.env, None)?;
    for chunk in 0..play.chunks {
        // A GPU's work is only queued here, and done while the CPU does its own.
        here.run(play.chunk)?;
        there.run(play.chunk)?;
        plant(&here.env, Some(chunk))?;
        let steps = chunk * play.chunk..(chunk + 1) * play.chunk;
        let mut found = Vec::new();
        for buffer in COMPARED {
            let (bytes, difference) = difference(&here.env, &there.env, buffer, steps.clone())?;
            sum.bytes += bytes;
            found.extend(difference);
        }
        sum.steps += play.members * play.envs * play.chunk;
        sum.samples += play.members * BATCH;
        if !found.is_empty() {
            // What follows differs because this does.
            let of = format!("{}, P {} E {}", world.name, play.members, play.envs);
            sum.found.extend(found.into_iter().map(|f| format!("{of}: {f}")));
            break;
        }
    }
    for t in there.env.read::<Tally>(Buffer::Tally)? {
        sum.tally.episodes += t.episodes;
        sum.tally.terminated += t.terminated;
        sum.tally.stops += t.stops;
        sum.tally.liquidations += t.liquidations;
    }
    Ok(())
}

/// Bytes compared, and the first difference in words.
fn difference(
    here: &Environments,
    there: &Environments,
    buffer: Buffer,
    steps: Range<usize>,
) -> Result<(usize, Option<String>), VerifyError> {
    let (a, b) = (here.read::<u8>(buffer)?, there.read::<u8>(buffer)?);
    if a == b {
        return Ok((a.len(), None));
    }
    let view = there.view(buffer);
    let name = buffer.name();
    let range = format!("steps {} to {}", steps.start, steps.end - 1);
    let said = match buffer {
        Buffer::Ring => first_transition(view, steps.clone(), &a, &b)
            .or_else(|| Place::first(view, 0, &a, &b).map(|p| format!("before {range}: {}", p.byte()))),
        _ => Place::first(view, 0, &a, &b).map(|p| {
            let row = match buffer {
                Buffer::Envs | Buffer::Observation | Buffer::Actions => "environment",
                Buffer::Indices | Buffer::Samples | Buffer::BatchActions | Buffer::States => "sample",
                _ => "row",
            };
            format!("member {}, {row} {}, column {}, {range}: {}", p.member, p.row, p.column, p.byte())
        }),
    };
    Ok((a.len(), said.map(|s| format!("{name}, {s}"))))
}

/// The first difference in time among the ring's rows of these steps.
fn first_transition(view: &View, steps: Range<usize>, here: &[u8], there: &[u8]) -> Option<String> {
    let line = view.cols * size_of::<Transition>();
    for step in steps {
        for member in 0..view.members {
            let from = (member * view.rows + step % view.rows) * line;
            let all = from..from + line;
            if let Some(p) = Place::first(view, from, &here[all.clone()], &there[all]) {
                return Some(format!("member {member}, environment {}, step {step}: {}", p.column, p.byte()));
            }
        }
    }
    None
}
