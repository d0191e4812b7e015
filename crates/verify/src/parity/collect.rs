//! Decisions in one launch beside the chain of launches that it stands for: observe, act, step. To the bit, since both act by
//! the same products in the same order.

use super::{
    Compared,
    accounts::difference,
    compare::{grouped, verdict},
    worlds::World,
};
use crate::VerifyError;
use foxhunt_core::{DType, rng::member_seed};
use foxhunt_device::Device;
use foxhunt_env::{Buffer, Env, Environments, MemberSpec, Shape, Tables, Tally, exploration};
use foxhunt_kernels::fused::{ACTING_BLOCKS, DqnKernels, DqnShape};
use foxhunt_kernels::loss::HeadShape;
use foxhunt_nn::{
    Options, Plan, Runtime,
    net::{BranchingQ, BranchingQConfig},
};
use foxhunt_train::{ACTIONS, in_plan};
use std::rc::Rc;

/// A population, and how many decisions a launch takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Play {
    pub(super) members: usize,
    pub(super) markets: usize,
    pub(super) envs: usize,
    pub(super) decisions: usize,
}

/// One environment, a tile less and more than one, many of them, more than run at a time.
pub(super) const PLAYS: [Play; 8] = [
    Play { members: 1, markets: 1, envs: 1, decisions: 40 },
    Play { members: 3, markets: 1, envs: 63, decisions: 30 },
    Play { members: 3, markets: 1, envs: 65, decisions: 30 },
    Play { members: 3, markets: 1, envs: 200, decisions: 30 },
    Play { members: 2, markets: 3, envs: 130, decisions: 20 },
    Play { members: 1, markets: 1, envs: 8_191, decisions: 10 },
    Play { members: 3, markets: 1, envs: 5_000, decisions: 10 },
    Play { members: 1, markets: 1, envs: 40_000, decisions: 5 },
];
/// Launches of a play: the second goes on from the first.
const LAUNCHES: usize = 2;
/// Rows of the ring: fewer than decisions, so that it comes round.
const RING_ROWS: usize = 13;

const COMPARED: [Buffer; 4] = [Buffer::Ring, Buffer::Envs, Buffer::Tally, Buffer::Actions];

/// What tests plant: a change to the environments of the one launch.
pub(super) type Plant<'a> = &'a dyn Fn(&Environments) -> Result<(), VerifyError>;

pub(super) fn compare(device: &Device, _: &Device, dtype: DType) -> Result<Compared, VerifyError> {
    compare_with(device, dtype, &PLAYS, &|_| Ok(()))
}

pub(super) fn compare_with(
    device: &Device,
    dtype: DType,
    plays: &[Play],
    plant: Plant<'_>,
) -> Result<Compared, VerifyError> {
    let (mut steps, mut bytes, mut ruins, mut found) = (0, 0, 0, Vec::new());
    for (world, play) in World::all()?.iter().flat_map(|w| plays.iter().map(move |p| (w, p))) {
        let (tables, mut specs) =
            world.spread(play.members, play.markets, world.market.splits.train.clone())?;
        specs.iter_mut().for_each(|s| s.exploration = exploration(0.6, 0.1, 20));
        let mut shape = world.shape(play.envs, RING_ROWS, 1);
        shape.state = shape.state.next_multiple_of(64);
        let network = network(shape.state);
        if !DqnKernels::Hopper.run_on(device, dtype, &fused_shape(&network)) {
            return Ok(Compared { said: "one decision a launch here".into(), found });
        }
        let side = |one| Side::new(device, (shape, &tables, &specs), &network, play, one);
        let (one, chain) = (side(true)?, side(false)?);
        [&one, &chain].into_iter().try_for_each(|side| impoverish(&side.env))?;
        plant(&one.env)?;
        for launch in 0..LAUNCHES {
            one.runtime.run("collect", 1)?;
            chain.runtime.run("collect", play.decisions as u32)?;
            device.synchronize()?;
            let range = launch * play.decisions..(launch + 1) * play.decisions;
            let last = range.end.saturating_sub(RING_ROWS)..range.end;
            let mut differences = Vec::new();
            for buffer in COMPARED {
                let (compared, difference) = difference(&one.env, &chain.env, buffer, last.clone())?;
                bytes += compared;
                differences.extend(difference);
            }
            steps += play.members * play.envs * play.decisions;
            if !differences.is_empty() {
                found.extend(differences.into_iter().map(|d| format!("{}, {play:?}: {d}", world.name)));
                break;
            }
        }
        let tallies: Vec<Tally> = one.env.read(Buffer::Tally)?;
        ruins += tallies.iter().map(|t| t.terminated as usize).sum::<usize>();
    }
    let decisions = format!("{} decisions, {} ruins", grouped(steps), grouped(ruins));
    let said = format!("{decisions}, {} MB {}", grouped(bytes >> 20), verdict(&found));
    Ok(Compared { said, found })
}

/// Leaves one environment of seven next to nothing, so that its episode ends at once, which a launch of many decisions can't
/// foresee as it does an episode's last bar.
fn impoverish(env: &Environments) -> Result<(), VerifyError> {
    let mut envs: Vec<Env> = env.read(Buffer::Envs)?;
    envs.iter_mut().step_by(7).for_each(|e| e.account.cash = 1);
    Ok(env.write(Buffer::Envs, &envs)?)
}

fn network(inputs: usize) -> BranchingQConfig {
    BranchingQConfig {
        inputs,
        trunk: [128, 128],
        stream: 64,
        head: HeadShape { actions: ACTIONS.into(), atoms: 51, v_min: -10.0, v_max: 10.0 },
        trunk_gradient_scale: 1.0,
        mixture: true,
    }
}

fn fused_shape(c: &BranchingQConfig) -> DqnShape {
    DqnShape { inputs: c.inputs, trunk: c.trunk, stream: c.stream, head: c.head.clone() }
}

/// One of the two ways, whose program takes the play's decisions in one launch, or one in several.
struct Side {
    runtime: Runtime,
    env: Rc<Environments>,
}

impl Side {
    fn new(
        device: &Device,
        (shape, tables, specs): (Shape, &Tables, &[MemberSpec]),
        network: &BranchingQConfig,
        play: &Play,
        one: bool,
    ) -> Result<Side, VerifyError> {
        let env = Rc::new(Environments::spread(device, DType::Bf16, shape, tables, specs, play.markets)?);
        let mut plan = Plan::new(DType::Bf16, play.members);
        let [envs, tally, observation, actions, ring] =
            [Buffer::Envs, Buffer::Tally, Buffer::Observation, Buffer::Actions, Buffer::Ring]
                .map(|b| plan.external(env.view(b), env.arena()));
        let net = BranchingQ::new(&mut plan, network.clone());
        plan.program("reset");
        let reset = env.reset()?;
        plan.run_foreign("env.reset", &[], &[envs, tally], move |_| Ok(vec![reset.clone()]));
        plan.program("collect");
        let writes = [envs, ring, tally, actions];
        let (acting, decisions) = (Rc::clone(&env), play.decisions);
        if one {
            let shape = fused_shape(network);
            net.run_foreign(&mut plan, "env.collect", (&[envs], &writes), move |_, online, mean| {
                Ok(vec![acting.collect(&shape, (online, mean), decisions).map_err(in_plan)?])
            });
        } else {
            let observe = env.observe()?;
            plan.run_foreign("env.observe", &[envs], &[observation], move |_| Ok(vec![observe.clone()]));
            let greedy = net.act_fused(&mut plan, "act", observation, ACTING_BLOCKS)?;
            plan.run_foreign("env.step", &[envs, greedy], &writes, move |cx| {
                Ok(vec![acting.step_greedy(cx.view(greedy)).map_err(in_plan)?])
            });
        }
        let runtime = plan.compile(device, Options::default())?;
        let image: Vec<f32> =
            (0..play.members as u64).flat_map(|m| net.net.initial_image(member_seed(7, m))).collect();
        runtime.write(net.net.weight, &image)?;
        runtime.run("reset", 1)?;
        Ok(Side { runtime, env })
    }
}
