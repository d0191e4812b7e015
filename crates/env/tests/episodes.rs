//! Episodes: where they start, how long they last, what they record at their end.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, FEATURES, Run, SHAPE, builds, naming_features, random_market, world};
use foxhunt_core::{
    DType,
    rng::{Purpose, below, draw},
};
use foxhunt_env::{Buffer, Env, MemberSpec, Shape, Tables, Tally, Transition};
use foxhunt_market::{Account, BarTable, flag, new_account, reference};
use std::collections::{HashMap, HashSet};

fn actions(dice: &mut Dice, count: usize) -> Vec<[u8; 3]> {
    (0..count).map(|_| dice.action()).collect()
}

/// Every transition that a run of `steps` random steps records, in order: `[steps][P][E]`.
fn play(run: &Run, steps: usize, seed: u64) -> Vec<Vec<Transition>> {
    let (p, shape) = (run.env.members(), run.env.shape());
    let mut dice = Dice::new(seed);
    run.reset();
    (0..steps)
        .map(|t| {
            run.step(&actions(&mut dice, p * shape.envs));
            let ring: Vec<Transition> = run.env.read(Buffer::Ring).unwrap();
            let row = t % shape.ring_rows;
            (0..p)
                .flat_map(|m| ring[(m * shape.ring_rows + row) * shape.envs..][..shape.envs].to_vec())
                .collect()
        })
        .collect()
}

#[test]
fn no_two_environments_replay_one_path_and_none_leaves_its_window() {
    let (tables, members) = world(400, &[0, 1, 2]);
    let run = Run::new(builds(DType::F32)[0], SHAPE, &tables, &members);
    let history = play(&run, 200, 1);
    let mut starts: HashMap<usize, Vec<u32>> = HashMap::new();
    for e in 0..3 * SHAPE.envs {
        let member = &members[e / SHAPE.envs];
        for t in 0..history.len() {
            let row = &history[t][e];
            let begins = t == 0 || history[t - 1][e].episode != row.episode;
            if begins {
                starts.entry(e).or_default().push(row.bar);
            }
            let bar = row.bar as usize - 10; // the other table comes first
            assert!(bar >= member.window.start + SHAPE.lookback - 1 && bar + 1 < member.window.end);
            assert_eq!(begins, row.before.equity == row.before.peak && row.before.bars == 0 && begins);
        }
    }
    let paths: HashSet<&Vec<u32>> = starts.values().collect();
    assert_eq!(paths.len(), 3 * SHAPE.envs, "an environment repeats another's starts");
    let all: HashSet<u32> = starts.values().flatten().copied().collect();
    assert!(all.len() > 300, "starts are spread over the window: {}", all.len());
}

#[test]
fn episodes_last_l_bars_and_record_their_true_end() {
    let (tables, members) = world(400, &[0, 1]);
    let run = Run::new(builds(DType::F32)[0], SHAPE, &tables, &members);
    let history = play(&run, 150, 2);
    let (mut truncated, mut terminated) = (0, 0);
    for e in 0..2 * SHAPE.envs {
        let mut length = 0;
        for t in 0..history.len() {
            let row = history[t][e];
            length += 1;
            if let Some(next) = history.get(t + 1).map(|h| h[e]) {
                if row.flags & (flag::TERMINATED | flag::TRUNCATED) == 0 {
                    assert_eq!((next.before, next.bar, next.episode), (row.after, row.bar + 1, row.episode));
                } else {
                    assert_eq!((next.before.equity, next.before.position), (members[0].rules.start_cash, 0));
                    assert_eq!(next.episode, row.episode + 1);
                }
            }
            if row.flags & flag::TRUNCATED != 0 {
                assert_eq!(length, 20);
                truncated += 1;
            }
            if row.flags & flag::TERMINATED != 0 {
                assert!(
                    row.after.equity <= members[0].rules.ruin_equity,
                    "the final account, not the reset's"
                );
                terminated += 1;
            }
            if row.flags & (flag::TERMINATED | flag::TRUNCATED) != 0 {
                length = 0;
            }
        }
    }
    assert!(truncated > 100 && terminated > 20, "{truncated} {terminated}");
    let tally: Vec<Tally> = run.env.read(Buffer::Tally).unwrap();
    assert_eq!(tally.iter().map(|t| t.terminated).sum::<u64>(), terminated);
    let ended = history.iter().flatten().filter(|r| r.flags & 3 != 0).count() as u64;
    assert_eq!(tally.iter().map(|t| t.episodes).sum::<u64>(), ended);
}

/// Where an episode of an environment begins, row of its table, and its unit of reward, from what is documented alone.
fn begins(member: &MemberSpec, market: &BarTable, env: usize, episode: u32) -> (usize, u32) {
    let (first, last) = (member.window.start + SHAPE.lookback - 1, member.window.end - 1);
    let length = member.episode_bars;
    // The last start leaves a whole episode before the window's end.
    let starts = last - first - length + 1;
    let word = draw(member.seed, u64::from(episode), 0, Purpose::Episode, env as u32)[0];
    let bar = first + below(word, starts as u32) as usize;
    (bar, market.context[bar].volatility_e9.max(member.volatility_floor_e9))
}

/// The environment's step is the market's: each account equals the plain-Rust reference, rewards included. The second member
/// sends market orders alone, and replay keeps what it chose.
#[test]
fn accounts_follow_the_reference() {
    let (tables, mut members) = world(200, &[0, 1]);
    members[1].rules.market_orders = 1;
    let market = random_market(5, 200);
    let mut starts = HashSet::new();
    for dtype in DType::ALL {
        let run = Run::new(builds(dtype)[0], SHAPE, &tables, &members);
        let mut dice = Dice::new(3);
        run.reset();
        let mut accounts: Vec<Account> = vec![new_account(&members[0].rules); 2 * SHAPE.envs];
        let mut returns = vec![0_i64; accounts.len()];
        let mut expected = vec![Tally::default(); 2];
        let mut episodes = vec![0_u32; accounts.len()];
        let mut fresh = vec![true; accounts.len()];
        for t in 0..60 {
            let chosen = actions(&mut dice, accounts.len());
            run.step(&chosen);
            let ring: Vec<Transition> = run.env.read(Buffer::Ring).unwrap();
            let envs: Vec<Env> = run.env.read(Buffer::Envs).unwrap();
            for (e, account) in accounts.iter_mut().enumerate() {
                let (m, i) = (e / SHAPE.envs, e % SHAPE.envs);
                let row = ring[(m * SHAPE.ring_rows + t % SHAPE.ring_rows) * SHAPE.envs + i];
                let bar = row.bar as usize - 10;
                let (start, volatility_e9) = begins(&members[m], &market, i, episodes[e]);
                if std::mem::take(&mut fresh[e]) {
                    assert_eq!(bar, start);
                    starts.insert(start);
                }
                assert_eq!((row.episode, row.volatility_e9), (episodes[e], volatility_e9));
                let unit = reference::Unit {
                    volatility_e9,
                    gain_q32: ((1.0 - 0.99_f64 * 0.99).sqrt() * 2_f64.powi(32)).round() as u32,
                };
                let (seen, next) = (&market.bars[bar], &market.bars[bar + 1]);
                let said = reference::step(&members[m].rules, account, seen, next, chosen[e], unit);
                assert_eq!((row.reward_q20, row.scaled_q20), (said.row.reward_q20, said.scaled_q20));
                assert_eq!(row.after.equity, said.row.equity);
                assert_eq!(
                    (row.after.position, row.after.ended),
                    (said.row.position, said.row.order_end | said.row.exit << 4)
                );
                assert_eq!(row.action, chosen[e]);
                returns[e] += i64::from(row.reward_q20);
                let tally = &mut expected[m];
                tally.floors += u64::from(row.flags & flag::REWARD_FLOOR != 0);
                tally.clamped += u64::from(said.account.clamped - account.clamped);
                *account = said.account;
                if row.flags & 3 != 0 {
                    tally.episodes += 1;
                    tally.terminated += u64::from(row.flags & flag::TERMINATED != 0);
                    tally.stops += u64::from(account.stops);
                    tally.liquidations += u64::from(account.liquidations);
                    tally.return_q20 += returns[e];
                    *account = new_account(&members[m].rules);
                    returns[e] = 0;
                    episodes[e] += 1;
                    fresh[e] = true;
                }
                assert_eq!((envs[e].account, envs[e].return_q20), (*account, returns[e]));
            }
        }
        assert_eq!(run.env.read::<Tally>(Buffer::Tally).unwrap(), expected);
        assert!(expected.iter().map(|t| t.stops).sum::<u64>() > 0, "{expected:?}");
    }
    assert!(starts.len() > 100, "{} starts", starts.len());
}

/// What stands for a reward that does not fit: the last F32 below 2^31.
const LARGEST: u32 = 2_147_483_520;

/// A unit of 1e-9 makes a reward of a hundredth of a percent too large for its integer.
#[test]
fn rewards_that_do_not_fit_are_counted() {
    let (_, mut members) = world(200, &[0]);
    let mut market = random_market(5, 200);
    market.context.iter_mut().for_each(|row| row.volatility_e9 = 1);
    let mut tables = Tables::new(FEATURES);
    let table = tables.add_bars(&market);
    members[0].features = tables.add_features(table, &naming_features(200)).unwrap();
    members[0].volatility_floor_e9 = 1;
    let run = Run::new(builds(DType::F32)[0], SHAPE, &tables, &members);
    let history = play(&run, 20, 6);
    let saturated = history.iter().flatten().filter(|row| row.scaled_q20.unsigned_abs() == LARGEST).count();
    let tally: Vec<Tally> = run.env.read(Buffer::Tally).unwrap();
    assert!(saturated > 100, "{saturated}");
    assert_eq!(tally[0].saturated, saturated as u64);
}

/// All builds give the same bits over 10^5 random steps; integers are the same in BF16 and F32.
#[test]
fn builds_agree_bit_for_bit() {
    let (tables, members) = world(700, &[0, 1, 2]);
    let shape = Shape { envs: 333, ring_rows: 25, ..SHAPE };
    let steps = 101; // 3 x 333 x 101 steps
    let mut integers = None;
    for dtype in DType::ALL {
        let mut first = None;
        for build in builds(dtype) {
            let run = Run::new(build, shape, &tables, &members);
            let history = play(&run, steps, 4);
            let observed: Vec<u32> = run.observe().into_iter().map(f32::to_bits).collect();
            run.gather_uniform();
            let batch: Vec<u32> = run.states().into_iter().flatten().map(f32::to_bits).collect();
            let samples: Vec<foxhunt_env::Sample> = run.env.read(Buffer::Samples).unwrap();
            let (counted, real) = ((history, samples), (observed, batch));
            match &first {
                None => first = Some(real),
                Some(first) => assert!(*first == real, "{build:?}: observations differ"),
            }
            match &integers {
                None => integers = Some(counted),
                Some(integers) => assert!(*integers == counted, "{build:?}: integers differ"),
            }
        }
    }
}

/// Removing or reordering members changes no other member's bits.
#[test]
fn members_are_independent() {
    let (tables, members) = world(400, &[0, 1, 2]);
    let of = |order: &[usize]| {
        let chosen: Vec<_> = order.iter().map(|&i| members[i].clone()).collect();
        let run = Run::new(builds(DType::Bf16)[0], SHAPE, &tables, &chosen);
        run.reset();
        let mut dice: Vec<Dice> = order.iter().map(|&i| Dice::new(i as u64)).collect();
        for _ in 0..50 {
            let all: Vec<[u8; 3]> = dice.iter_mut().flat_map(|d| actions(d, SHAPE.envs)).collect();
            run.step(&all);
        }
        run.gather_uniform();
        let ring: Vec<Transition> = run.env.read(Buffer::Ring).unwrap();
        let (observed, state) = (run.observe(), run.states()[0].clone());
        (ring, observed, state)
    };
    let (three, two) = (of(&[0, 1, 2]), of(&[2, 0]));
    for (new, old) in [(0, 2), (1, 0)] {
        let rows = SHAPE.ring_rows * SHAPE.envs;
        assert!(two.0[new * rows..][..rows] == three.0[old * rows..][..rows]);
        let cells = SHAPE.envs * SHAPE.state;
        assert_eq!(two.1[new * cells..][..cells], three.1[old * cells..][..cells]);
        let cells = SHAPE.batch * SHAPE.state;
        assert_eq!(two.2[new * cells..][..cells], three.2[old * cells..][..cells]);
    }
}

/// One environment and one sample work as well as many.
#[test]
fn a_single_environment_agrees_with_itself_among_many() {
    let (tables, members) = world(400, &[0]);
    let of = |envs: usize| {
        let shape = Shape { envs, batch: 1, ..SHAPE };
        let run = Run::new(builds(DType::F32)[0], shape, &tables, &members);
        run.reset();
        for t in 0..100_u8 {
            run.step(&vec![[t % 9, t / 9 % 3, t / 27 % 3]; envs]);
        }
        (run.env.read::<Env>(Buffer::Envs).unwrap()[0], run.observe()[..SHAPE.state].to_vec())
    };
    let one = of(1);
    assert_eq!(one, of(31));
    assert_eq!(one, of(1_000));
}

/// What comes after a bar changes nothing that was seen or earned up to its close.
#[test]
fn the_future_changes_nothing_before_it() {
    const KNOWN: usize = 200;
    let make = |other_future: bool| {
        let mut market = random_market(5, 400);
        let mut features = naming_features(400);
        if other_future {
            for (i, bar) in random_market(6, 400).bars.into_iter().enumerate().skip(KNOWN) {
                market.bars[i] = bar;
                market.context[i].volatility_e9 /= 2;
            }
            features[KNOWN * FEATURES..].iter_mut().for_each(|x| *x = -*x);
        }
        let mut tables = Tables::new(FEATURES);
        let id = tables.add_bars(&market);
        let features = tables.add_features(id, &features).unwrap();
        let (_, members) = world(400, &[0]);
        let member = MemberSpec { features, window: 0..400, ..members[0].clone() };
        Run::new(builds(DType::F32)[0], SHAPE, &tables, &[member])
    };
    let runs = [make(false), make(true)];
    runs.iter().for_each(Run::reset);
    let mut dice = Dice::new(12);
    let (mut same, mut diverged) = (0, 0);
    let mut alike = [true; SHAPE.envs]; // its whole past lies before the change
    for _ in 0..60 {
        let [a, b] = [0, 1].map(|i: usize| runs[i].observe());
        let envs: Vec<Env> = runs[0].env.read(Buffer::Envs).unwrap();
        for (e, env) in envs.iter().enumerate() {
            if env.bar as usize >= KNOWN {
                alike[e] = false;
                diverged += 1;
            }
            let row = e * SHAPE.state..(e + 1) * SHAPE.state;
            if alike[e] {
                assert_eq!(a[row.clone()], b[row]);
                same += 1;
            }
        }
        let chosen = actions(&mut dice, SHAPE.envs);
        runs.iter().for_each(|r| r.step(&chosen));
    }
    assert!(same > 200 && diverged > 200, "{same} {diverged}");
}
