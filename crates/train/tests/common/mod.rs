//! A market whose next move is known, small configurations, and a policy's run over a window.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "shared by several test binaries")]

use foxhunt_core::DType;
use foxhunt_data::{Bars, Basis, Ohlc, Repairs, SourceInfo, StampSide, presets};
use foxhunt_device::Command;
use foxhunt_device::Device;
use foxhunt_env::{Buffer, Environments, MemberSpec, Shape, Transition, exploration};
use foxhunt_kernels::{
    env::{EnvAct, env_act_greedy},
    loss::HeadShape,
};
use foxhunt_nn::{
    Options, Plan,
    net::{BranchingQ, BranchingQConfig},
};
use foxhunt_train::{ACTIONS, Config, Market, Size, Trainer};
use std::ops::Range;

/// Hourly EUR/USD bars without a gap that go up for four bars and down for four, by about 10 bp a bar. The swing
/// grows and shrinks over 700 bars, so that no feature stands still. Costs are the preset's, 1 bp or so a flip.
pub fn waves(rows: usize) -> Bars {
    const WAVE: [f64; 8] = [-1.0, -0.5, 0.0, 0.5, 1.0, 0.5, 0.0, -0.5];
    let close: Vec<i32> = (0..rows)
        .map(|t| {
            let swing = 0.002 * (1.0 + 0.5 * (std::f64::consts::TAU * t as f64 / 700.0).sin());
            (220_000.0 * (1.0 + swing * WAVE[t % 8])) as i32
        })
        .collect();
    let open: Vec<i32> = (0..rows).map(|t| close[t.saturating_sub(1)]).collect();
    let both = |f: fn(i32, i32) -> i32| open.iter().zip(&close).map(|(o, c)| f(*o, *c)).collect::<Vec<i32>>();
    let hour = 3_600_000_000_000_i64;
    let first = 438_300 * hour;
    Bars {
        instrument: presets::eurusd(),
        open_ns: (0..rows as i64).map(|t| first + t * hour).collect(),
        close_ns: (1..=rows as i64).map(|t| first + t * hour).collect(),
        bid: Ohlc { high: both(i32::max), low: both(i32::min), open, close },
        ask: None,
        volume_lots: vec![1_000_000; rows],
        has_volume: false,
        extra: Vec::new(),
        source: SourceInfo {
            path: "waves (made by a test)".into(),
            sha256: String::new(),
            format: "made".into(),
            stamp_format: "none".into(),
            stamp_side: StampSide::Open,
            stamp_side_basis: Basis::Given,
            time_zone: "UTC".into(),
            time_zone_basis: Basis::Given,
            bar_seconds: 3_600,
            rows_read: rows as u64,
            columns: Vec::new(),
            columns_unused: Vec::new(),
            notes: Vec::new(),
            opens_at_previous_close: rows as u64,
            synthetic_opens: true,
            jumps: Vec::new(),
            edges: None,
            repairs: Repairs::default(),
        },
    }
}

/// The CPU, and a GPU where there is one.
pub fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu()];
    match Device::cuda(0) {
        Ok(gpu) => devices.push(gpu),
        Err(e) => println!("skipped on a GPU: {e}"),
    }
    devices
}

/// A network and an epoch that take a tenth of a second.
pub fn tiny() -> Config {
    let mut config = Config::of(Size::Small);
    config.network.trunk = [32, 32];
    config.network.stream = 32;
    config.network.atoms = 21;
    let l = &mut config.learn;
    (l.envs, l.collect, l.updates, l.batch, l.replay, l.episode_bars) = (16, 512, 32, 32, 1_024, 64);
    config
}

/// Weights, target and moments of each member. Its environments count rows of the table of all that train.
pub fn states(trainer: &Trainer, members: usize) -> Vec<Vec<u8>> {
    let mut out = vec![Vec::new(); members];
    let net = trainer.net();
    for t in &[net.weight, net.target, net.m, net.v] {
        let bytes = trainer.runtime().read_bytes(*t).unwrap();
        let one = bytes.len() / members;
        out.iter_mut().zip(bytes.chunks(one)).for_each(|(member, part)| member.extend_from_slice(part));
    }
    out
}

pub fn network(config: &Config) -> BranchingQConfig {
    let n = &config.network;
    BranchingQConfig {
        inputs: n.inputs,
        trunk: n.trunk,
        stream: n.stream,
        head: HeadShape { actions: ACTIONS.into(), atoms: n.atoms, v_min: -n.v_max, v_max: n.v_max },
        trunk_gradient_scale: 0.25,
        mixture: true,
    }
}

/// Who decides.
pub enum Policy<'a> {
    /// The greedy actions of the trainer's member 0.
    Greedy(&'a Trainer),
    /// The actions at the close of a bar.
    Scripted(&'a dyn Fn(usize) -> [u8; 3]),
}

/// One account over all of `window`, without exploration; every transition in order of time.
pub fn play(
    dtype: DType,
    config: &Config,
    market: &Market,
    window: Range<usize>,
    policy: &Policy<'_>,
) -> Vec<Transition> {
    let device = Device::cpu();
    let (tables, features) = market.tables().unwrap();
    // One decision less than the window holds: an episode that fills it begins anywhere.
    let steps = window.len() - 2;
    let lookback = config.network.lookback;
    let shape = Shape { envs: 1, lookback, state: config.network.inputs, ring_rows: steps, batch: 8 };
    let spec = MemberSpec {
        seed: 1,
        features,
        window: window.start + 1 - lookback..window.end,
        volatility_floor_e9: market.volatility_floor_e9,
        rules: market.rules.row().unwrap(),
        episode_bars: steps,
        discount: config.learn.gamma,
        n_step: 1,
        exploration: exploration(0.0, 0.0, 1),
    };
    let env = Environments::new(&device, dtype, shape, &tables, &[spec]).unwrap();
    let mut plan = Plan::new(dtype, 1);
    let [observation, actions, envs] =
        [Buffer::Observation, Buffer::Actions, Buffer::Envs].map(|b| plan.external(env.view(b), env.arena()));
    let net = BranchingQ::new(&mut plan, network(config));
    let foreign = |plan: &mut Plan, name, command: Command| {
        plan.program(name);
        plan.run_foreign(name, &[], &[envs], move |_| Ok(vec![command.clone()]));
    };
    foreign(&mut plan, "reset", env.reset().unwrap());
    foreign(&mut plan, "step", env.step().unwrap());
    foreign(&mut plan, "act", env.observe().unwrap());
    let (_, greedy) = net.act(&mut plan, "act", observation).unwrap();
    let views =
        [Buffer::Envs, Buffer::Members, Buffer::Exploration, Buffer::Actions].map(|b| env.view(b).clone());
    plan.run_foreign("env.act", &[greedy], &[actions], move |cx| {
        let [env, member, exploration, actions] = &views;
        let act = EnvAct { env, member, exploration, actions };
        Ok(vec![Command::Launch(env_act_greedy(cx.dtype(), 1, &act, cx.view(greedy))?)])
    });
    let runtime = plan.compile(&device, Options::default()).unwrap();
    if let Policy::Greedy(trainer) = policy {
        let all = trainer.runtime().read(trainer.net().weight).unwrap();
        let one = all.len() / config.population;
        runtime.write(net.net.weight, &all[..one]).unwrap();
    }
    runtime.run("reset", 1).unwrap();
    let first = env.read::<foxhunt_env::Env>(Buffer::Envs).unwrap()[0].bar as usize;
    for bar in first..first + steps {
        match policy {
            Policy::Greedy(_) => runtime.run("act", 1).unwrap(),
            Policy::Scripted(actions) => env.write(Buffer::Actions, &[actions(bar)]).unwrap(),
        }
        runtime.run("step", 1).unwrap();
    }
    env.read(Buffer::Ring).unwrap()
}

/// Sum of log returns of equity.
pub fn log_return(rows: &[Transition]) -> f64 {
    rows.iter().map(|r| f64::from(r.reward_q20)).sum::<f64>() / f64::from(1 << 20)
}
