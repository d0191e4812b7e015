//! Replay: observations rebuilt bit for bit, n-step windows, sampling.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Dice, FEATURES, Run, SHAPE, builds, random_market, world, world_of};
use foxhunt_core::DType;
use foxhunt_env::{ACCOUNT_FEATURES, Buffer, Env, MemberSpec, Sample, Shape, Summary, Tables, Transition};
use foxhunt_market::{Bar, BarColumns, BarTable, RuleBook, flag};

const ONE_Q20: i32 = 1 << 20;
const ONE_Q31: f64 = 2_147_483_648.0;

/// A replayed s is the observation that was acted on, and s' the one that came of it: bit for bit, also where an episode
/// ended and the environment had moved on. With 16 features a pack of eight lies within one bar's, with 11 over two or more.
#[test]
fn replayed_observations_are_those_acted_on() {
    for dtype in DType::ALL {
        for (lookback, columns, state) in
            [(1, 11, 64), (3, 11, 64), (20, 11, 256), (1, 16, 64), (3, 16, 64), (9, 3, 64)]
        {
            let (tables, members) = world_of(300, &[0, 1], columns);
            let members: Vec<_> =
                members.into_iter().map(|m| foxhunt_env::MemberSpec { n_step: 1, ..m }).collect();
            let shape = Shape { lookback, state, batch: SHAPE.envs, ..SHAPE };
            let run = Run::new(*builds(dtype).last().unwrap(), shape, &tables, &members);
            run.reset();
            let mut dice = Dice::new(9);
            let (mut ended, mut went_on) = (0, 0);
            let cells = 2 * shape.envs * state;
            for t in 0..70 {
                let acted_on = run.observe();
                let actions: Vec<[u8; 3]> = (0..2 * shape.envs).map(|_| dice.action()).collect();
                run.step(&actions);
                let now = run.observe();
                let row = (t % shape.ring_rows * shape.envs) as u32;
                let indices: Vec<u32> =
                    (0..2 * shape.envs as u32).map(|e| row + e % shape.envs as u32).collect();
                run.gather(&indices);
                let (s, next) = {
                    let [s, next] = run.states();
                    (s, next)
                };
                assert_eq!(s.len(), cells);
                assert!(s.iter().zip(&acted_on).all(|(a, b)| a.to_bits() == b.to_bits()), "step {t}");
                assert_eq!(run.env.read::<[u8; 3]>(Buffer::BatchActions).unwrap(), actions);
                let ring: Vec<Transition> = run.env.read(Buffer::Ring).unwrap();
                for e in 0..2 * shape.envs {
                    let at = (e / shape.envs * shape.ring_rows + t % shape.ring_rows) * shape.envs;
                    let transition = ring[at + e % shape.envs];
                    let row = e * state..(e + 1) * state;
                    if transition.flags & (flag::TERMINATED | flag::TRUNCATED) == 0 {
                        assert_eq!(next[row.clone()], now[row], "step {t}, environment {e}");
                        went_on += 1;
                    } else {
                        // Features of the next bar, not of the new episode's first.
                        let feature = |bar: u32, k: usize| {
                            let bar = bar as usize - 10 - (lookback - 1) + k / columns;
                            (bar % 16) as f32 + (k % columns) as f32 / 16.0
                        };
                        for k in 0..lookback * columns {
                            assert_eq!(next[row.start + k], feature(transition.bar + 1, k));
                        }
                        ended += 1;
                    }
                }
            }
            assert!(ended > 100 && went_on > 1_000, "{ended} {went_on}");
        }
    }
}

/// The account's columns against the same numbers in F64, and zeros beyond them.
#[test]
fn the_account_is_described_in_numbers_of_order_one() {
    let (tables, members) = world(300, &[0]);
    let run = Run::new(builds(DType::F32)[0], SHAPE, &tables, &members);
    let market = random_market(5, 300);
    run.reset();
    let mut dice = Dice::new(21);
    let rules = members[0].rules;
    let mut largest = [0_f64; ACCOUNT_FEATURES];
    for _ in 0..60 {
        let actions: Vec<[u8; 3]> = (0..SHAPE.envs).map(|_| dice.action()).collect();
        run.step(&actions);
        let seen = run.observe();
        for (e, env) in run.env.read::<Env>(Buffer::Envs).unwrap().iter().enumerate() {
            let (a, bar) = (env.account, &market.bars[env.bar as usize - 10]);
            let close = f64::from(bar.bid[3]);
            let unrealised = (f64::from(a.position) * close - a.basis as f64) * 10.0;
            let equity = a.cash as f64 + unrealised;
            let (leverage, sigma) = (f64::from(rules.leverage_e4) / 1e4, f64::from(env.volatility_e9) / 1e9);
            let gain = (1.0 - 0.99_f64 * 0.99).sqrt();
            let held = f64::from(a.position) * close * 10.0;
            let end = f64::from(a.order_end);
            let want = [
                held / equity / leverage,
                unrealised / equity / (leverage * sigma / gain),
                f64::from(a.bars).ln_1p() / 4.0,
                (a.peak as f64 - equity) / (a.peak - rules.ruin_equity) as f64,
                held.abs() * f64::from(rules.maintenance_e7) / 1e7 / equity,
                (equity / rules.start_cash as f64).ln(),
                f64::from(bar.sigma) / close / sigma,
                (equity * leverage / (close * 10.0) / (bar.mean_volume as f64 * 0.1)).ln_1p(),
                (f64::from(bar.gap_seconds) / 3_600.0).ln_1p() / 4.0,
                f64::from(market.context[env.bar as usize - 10].session_seconds) / 86_400.0,
                f64::from(a.fill_share) / 255.0,
                if (2.0..9.0).contains(&end) { (end - 1.0) / 7.0 } else { 0.0 },
                f64::from(a.exit) / 2.0,
            ];
            let row = &seen[e * SHAPE.state..(e + 1) * SHAPE.state];
            let first = SHAPE.lookback * FEATURES;
            for (k, want) in want.into_iter().enumerate() {
                let got = f64::from(row[first + k]);
                assert!((got - want).abs() <= 2e-6 * (1.0 + want.abs()), "column {k}: {got} {want}");
                largest[k] = largest[k].max(got.abs());
            }
            assert!(row[first + ACCOUNT_FEATURES..].iter().all(|&x| x == 0.0));
        }
    }
    assert!(largest.iter().all(|&x| x > 0.05 && x < 12.0), "{largest:?}");
}

/// A ring that is written by hand: `rewards[row][env]`, in whole units, with flags. `steps` is the write head.
fn ring_of(run: &Run, steps: u64, rows: &[Vec<(i32, u8)>]) {
    let shape = run.env.shape();
    let mut ring = vec![Transition::default(); shape.ring_rows * shape.envs];
    for (r, row) in rows.iter().enumerate() {
        for (e, &(reward, flags)) in row.iter().enumerate() {
            ring[r * shape.envs + e] = Transition {
                bar: 12 + r as u32,
                scaled_q20: reward,
                flags,
                action: [r as u8 % 9, e as u8 % 3, 1],
                volatility_e9: 1_000_000,
                before: Summary { equity: 1_000_000, ..Summary::default() },
                after: Summary { equity: 1_000_000, ..Summary::default() },
                ..Transition::default()
            };
        }
    }
    run.env.write(Buffer::Ring, &ring).unwrap();
    run.env.write(Buffer::Envs, &vec![Env { step: steps, ..Env::default() }; shape.envs]).unwrap();
}

fn small(envs: usize, ring_rows: usize, n_step: usize, discount: f64) -> Run {
    let (tables, members) = world(100, &[0]);
    let members = vec![foxhunt_env::MemberSpec { n_step, discount, ..members[0].clone() }];
    let shape = Shape { envs, ring_rows, batch: envs * ring_rows, ..SHAPE };
    Run::new(builds(DType::F32)[0], shape, &tables, &members)
}

/// Samples of every row of the ring, and the bar of each s' (from its newest row of features).
fn gather_all(run: &Run) -> Vec<(Sample, u32)> {
    let shape = run.env.shape();
    let indices: Vec<u32> = (0..(shape.envs * shape.ring_rows) as u32).collect();
    run.gather(&indices);
    let samples: Vec<Sample> = run.env.read(Buffer::Samples).unwrap();
    let [_, next] = run.states();
    let newest = (shape.lookback - 1) * FEATURES;
    samples.into_iter().enumerate().map(|(i, s)| (s, next[i * shape.state + newest] as u32)).collect()
}

/// The name of a bar in the test features: its row in its table, mod 16.
fn name(bar: u32) -> u32 {
    (bar - 10) % 16
}

/// rl.md section 13, golden of rlax: r (1, 2, 3, 4), discounts (.9, .9, 0, .9), v (10, 20, 30, 40), n 3 gives
/// (5.23, 4.7, 3, 40).
#[test]
fn n_step_returns_match_the_golden() {
    let run = small(1, 4, 3, 0.9);
    let reward = |r: i32, flags| vec![(r * ONE_Q20, flags)];
    ring_of(&run, 4, &[reward(1, 0), reward(2, 0), reward(3, flag::TERMINATED), reward(4, 0)]);
    let got = gather_all(&run);
    let value = |bar: u32| if bar == name(16) { 40.0 } else { 1e9 };
    let targets: Vec<f64> = got
        .iter()
        .map(|&(s, next)| {
            let bootstrap = if s.discount_q31 == 0 { 0.0 } else { value(next) };
            f64::from(s.return_q20) / f64::from(ONE_Q20) + f64::from(s.discount_q31) / ONE_Q31 * bootstrap
        })
        .collect();
    for (target, want) in targets.iter().zip([5.23, 4.7, 3.0, 40.0]) {
        assert!((target - want).abs() < 1e-5, "{targets:?}");
    }
    assert_eq!(got.iter().map(|g| g.0.steps).collect::<Vec<_>>(), [3, 2, 1, 1]);
}

#[test]
fn one_step_is_td() {
    let run = small(2, 8, 1, 0.97);
    let mut dice = Dice::new(2);
    let mut row = || {
        (0..2)
            .map(|_| (dice.within(-3 << 20, 3 << 20) as i32, [0, 0, 1, 2][dice.within(0, 3) as usize]))
            .collect()
    };
    let rows: Vec<Vec<(i32, u8)>> = (0..8).map(|_| row()).collect();
    ring_of(&run, 8, &rows);
    for (i, (s, next)) in gather_all(&run).into_iter().enumerate() {
        let (reward, flags) = rows[i / 2][i % 2];
        let gamma = (0.97 * ONE_Q31).round() as u32;
        assert_eq!((s.return_q20, s.steps, s.index), (reward, 1, i as u32));
        assert_eq!(s.discount_q31, if flags & flag::TERMINATED != 0 { 0 } else { gamma });
        assert_eq!(next, name(12 + i as u32 / 2 + 1));
    }
}

/// A value of c behind a truncation equals an endless continuation worth c, for every length of window; termination is worth
/// nothing; both flags together are a termination.
#[test]
fn truncation_bootstraps_and_termination_does_not() {
    let gamma = 0.95_f64;
    let reward = 0.25;
    let endless = reward / (1.0 - gamma);
    for n in 1..6 {
        let run = small(1, 12, n, gamma);
        let mut rows = vec![vec![((reward * f64::from(ONE_Q20)) as i32, 0)]; 12];
        rows[4][0].1 = flag::TRUNCATED;
        rows[7][0].1 = flag::TERMINATED;
        rows[10][0].1 = flag::TERMINATED | flag::TRUNCATED;
        ring_of(&run, 12, &rows);
        for (t, (s, next)) in gather_all(&run).into_iter().enumerate() {
            let total =
                f64::from(s.return_q20) / f64::from(ONE_Q20) + f64::from(s.discount_q31) / ONE_Q31 * endless;
            let end = [4, 7, 10].into_iter().find(|&end| end >= t).unwrap_or(11);
            let steps = n.min(end - t + 1);
            assert_eq!(s.steps as usize, steps, "n {n}, row {t}");
            assert_eq!(next, name(12 + (t + steps) as u32));
            let last = t + steps - 1;
            let want = if rows[last][0].1 & flag::TERMINATED != 0 {
                reward * (1.0 - gamma.powi(steps as i32)) / (1.0 - gamma)
            } else {
                endless
            };
            assert!((total - want).abs() < 1e-5, "n {n}, row {t}: {total} {want}");
        }
    }
}

/// Wherever the ring wraps, a row's window is what it was in time order, and stops at the write head.
#[test]
fn windows_are_right_at_every_offset_of_the_ring() {
    const ROWS: usize = 7;
    let run = small(2, ROWS, 3, 0.9);
    let reward = |time: usize, env: usize| ((time * 10 + env) as i32) << 16;
    let ends = |time: usize, env: usize| (time + env).is_multiple_of(5);
    for head in ROWS..3 * ROWS {
        let mut rows = vec![vec![(0, 0); 2]; ROWS];
        for time in head - ROWS..head {
            for (env, cell) in rows[time % ROWS].iter_mut().enumerate() {
                *cell = (reward(time, env), if ends(time, env) { flag::TRUNCATED } else { 0 });
            }
        }
        ring_of(&run, head as u64, &rows);
        let got = gather_all(&run);
        for time in head - ROWS..head {
            for env in 0..2 {
                let (s, _) = got[time % ROWS * 2 + env];
                let (mut want, mut steps, mut power) = (0.0, 0, 1.0);
                // To the unit: products in 2^-40, rounded to 2^-20 once.
                let (mut sum, mut power_q31, discount_q31) = (0_i64, 1_i64 << 31, 1_932_735_283);
                for t in time..(time + 3).min(head) {
                    want += power * f64::from(reward(t, env));
                    power *= 0.9;
                    sum += (i64::from(reward(t, env)) * power_q31) >> 11;
                    power_q31 = (power_q31 * discount_q31 + (1 << 30)) >> 31;
                    steps += 1;
                    if ends(t, env) {
                        break;
                    }
                }
                assert_eq!(s.steps, steps, "head {head}, time {time}");
                assert!((f64::from(s.return_q20) - want).abs() < 2.0, "head {head}, time {time}, env {env}");
                assert_eq!(i64::from(s.return_q20), (sum + (1 << 19)) >> 20);
            }
        }
    }
}

#[test]
fn other_environments_change_nothing() {
    let mut dice = Dice::new(8);
    let run = small(3, 9, 4, 0.99);
    let mut row = |seed: i64| {
        (0..3)
            .map(|_| (dice.within(-seed, seed) as i32, if dice.within(0, 4) == 0 { 2 } else { 0 }))
            .collect()
    };
    let rows: Vec<Vec<(i32, u8)>> = (0..9).map(|_| row(1 << 20)).collect();
    ring_of(&run, 13, &rows);
    let before = gather_all(&run);
    // Environments 0 and 2 change places and rows.
    let mut shuffled = rows.clone();
    for r in 0..9 {
        shuffled[r][0] = rows[8 - r][2];
        shuffled[r][2] = rows[(r + 4) % 9][0];
    }
    ring_of(&run, 13, &shuffled);
    let after = gather_all(&run);
    for r in 0..9 {
        assert_eq!(before[3 * r + 1], after[3 * r + 1]);
    }
}

#[test]
fn samples_are_uniform_over_what_was_written() {
    let (tables, members) = world(100, &[0, 1]);
    let shape = Shape { envs: 4, ring_rows: 8, batch: 4_096, ..SHAPE };
    let run = Run::new(builds(DType::F32)[0], shape, &tables, &members);
    for (step, written) in [(1, 4), (5, 20), (8, 32), (1_000, 32)] {
        run.env.write(Buffer::Envs, &[Env { step, ..Env::default() }; 8]).unwrap();
        let draws = 8;
        let mut counts = vec![0_f64; 32];
        let mut batches = Vec::new();
        for _ in 0..draws {
            let indices = run.gather_uniform();
            indices.iter().for_each(|&i| counts[i as usize] += 1.0);
            batches.push(indices);
        }
        assert!(counts[written..].iter().all(|&c| c == 0.0), "beyond the head");
        let expected = f64::from(draws) * 2.0 * 4_096.0 / written as f64;
        let chi2: f64 = counts[..written].iter().map(|c| (c - expected).powi(2) / expected).sum();
        assert!(chi2 < 2.0 * written as f64 + 25.0, "chi2 {chi2} of {written} cells");
        assert_ne!(batches[0], batches[1], "each draw is new");
        assert_ne!(batches[0][..4_096], batches[0][4_096..], "members draw their own");
    }
    assert_eq!(run.env.read::<u64>(Buffer::Draws).unwrap(), [32, 32]);
}

/// An account that a gap took below nothing: its last observation is bootstrapped with a discount of 0, which a NaN of
/// the network would survive.
#[test]
fn the_observation_of_an_account_that_lost_all_is_finite() {
    let (tables, members) = world(200, &[0]);
    for dtype in DType::ALL {
        let run = Run::new(builds(dtype)[0], SHAPE, &tables, &members);
        run.reset();
        run.step(&[[8, 0, 2]; SHAPE.envs]);
        let mut ring: Vec<Transition> = run.env.read(Buffer::Ring).unwrap();
        let start = members[0].rules.start_cash;
        for equity in [start / 100, 1, 0, -start, -100 * start] {
            ring[0].after.equity = equity;
            ring[0].flags |= flag::TERMINATED;
            run.env.write(Buffer::Ring, &ring).unwrap();
            run.gather(&[0; SHAPE.batch]);
            let [_, next] = run.states();
            assert!(next.iter().all(|x| x.is_finite()), "equity {equity}: {:?}", &next[..SHAPE.state]);
            // ln 0.01 is the least growth that there is.
            let growth = next[SHAPE.lookback * FEATURES + 5];
            assert!((growth - 0.01_f32.ln()).abs() < 0.02, "{growth}");
        }
    }
}

/// Prices that BF16 would move by 12 and 23 bp come back from the device as they were, whatever reals are stored in.
#[test]
fn prices_are_kept_to_the_unit() {
    for price in [6_341_255_i32, 108_342] {
        let side: Vec<i32> = (0..40).map(|t| price + t % 3).collect();
        let (hours, ones) = (vec![3_600; 40], vec![1; 40]);
        let market = BarTable::from_columns(&BarColumns {
            bid: [&side, &side, &side, &side],
            ask: None,
            volume: &[1_000; 40],
            mean_volume: &[1_000; 40],
            sigma: &ones,
            atr: &ones,
            gap_seconds: &[0; 40],
            bar_seconds: &hours,
            slow_volatility_e9: &[2_000_000; 40],
            session_seconds: &hours,
        })
        .unwrap();
        let mut tables = Tables::new(1);
        let bars = tables.add_bars(&market);
        let features = tables.add_features(bars, &[0.5; 40]).unwrap();
        let (_, members) = world(300, &[0]);
        let rules = RuleBook { highest_price: market.highest_price(), ..RuleBook::default() }.row().unwrap();
        let member = MemberSpec { features, window: 0..40, rules, ..members[0].clone() };
        for dtype in DType::ALL {
            let shape = Shape { lookback: 1, ..SHAPE };
            let run = Run::new(builds(dtype)[0], shape, &tables, std::slice::from_ref(&member));
            let stored: Vec<Bar> = run.env.read(Buffer::Bars).unwrap();
            let closes: Vec<i32> = stored.iter().map(|b| b.bid[3]).collect();
            assert_eq!(closes, side, "{dtype}");
        }
    }
}

/// A state in BF16 is the one in F32, rounded once: within half a unit of its eight bits.
#[test]
fn states_are_rounded_once() {
    let (_, members) = world(300, &[0]);
    let mut tables = Tables::new(FEATURES);
    let table = tables.add_bars(&random_market(5, 300));
    let mut dice = Dice::new(31);
    let values: Vec<f32> =
        (0..300 * FEATURES).map(|_| dice.within(-90_000, 90_000) as f32 / 30_011.0).collect();
    let features = tables.add_features(table, &values).unwrap();
    let members = [MemberSpec { features, ..members[0].clone() }];
    let [narrow, wide] = DType::ALL.map(|dtype| {
        let run = Run::new(builds(dtype)[0], SHAPE, &tables, &members);
        run.reset();
        let mut dice = Dice::new(3);
        let mut seen = run.observe();
        for _ in 0..15 {
            let actions: Vec<[u8; 3]> = (0..SHAPE.envs).map(|_| dice.action()).collect();
            run.step(&actions);
            seen.extend(run.observe());
        }
        let rows: Vec<u32> = run.gather_uniform();
        let drawn = (run.states(), run.env.read::<foxhunt_env::Sample>(Buffer::Samples).unwrap());
        run.gather(&rows);
        assert!(drawn == (run.states(), run.env.read(Buffer::Samples).unwrap()), "rows drawn, and given");
        seen.extend(run.states().concat());
        seen
    });
    assert_eq!(narrow.len(), wide.len());
    let mut inexact = 0;
    for (b, x) in narrow.iter().zip(&wide) {
        assert!((b - x).abs() <= x.abs() * 2_f32.powi(-8), "{b} for {x}");
        inexact += usize::from(b != x);
    }
    assert!(inexact > narrow.len() / 4, "{inexact} of {}", narrow.len());
}
