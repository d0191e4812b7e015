//! A run is a function of its configuration, data and seed; a member is a function of its id.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{devices, tiny, waves};
use foxhunt_core::DType;
use foxhunt_data::Bars;
use foxhunt_device::{Device, Isa};
use foxhunt_train::{Config, EpochReport, Explore, Market, Trainer};

const EPOCHS: u32 = 3;
/// Both ways to explore.
const EXPLORE: [Explore; 2] = [Explore::Epsilon, Explore::Boltzmann];

/// Everything that a member carries from epoch to epoch, in bytes, by member.
type State = Vec<Vec<u8>>;

fn state(trainer: &Trainer, members: usize) -> State {
    let mut out = vec![Vec::new(); members];
    for t in trainer.state() {
        let bytes = trainer.runtime().read_bytes(*t).unwrap();
        let one = bytes.len() / members;
        for (member, part) in out.iter_mut().zip(bytes.chunks(one)) {
            member.extend_from_slice(part);
        }
    }
    out
}

fn small() -> (Config, Bars) {
    let mut config = tiny();
    config.learn.collect = 256;
    config.learn.updates = 16;
    (config, waves(700))
}

fn run(device: &Device, dtype: DType, config: &Config, bars: &Bars) -> (State, Vec<EpochReport>) {
    let market = Market::prepare(bars.clone(), config).unwrap();
    let mut trainer = Trainer::new(device, dtype, config, &market).unwrap();
    let mut reports = Vec::new();
    for _ in 0..EPOCHS {
        reports.extend(trainer.epoch().unwrap());
    }
    let state = state(&trainer, config.population);
    assert!(reports.iter().all(|r| r.loss.is_some_and(f64::is_finite) && r.skipped == 0), "{reports:?}");
    (state, reports)
}

/// Every device with every storage type.
fn settings() -> Vec<(Device, DType)> {
    devices().into_iter().flat_map(|d| DType::ALL.map(|dtype| (d.clone(), dtype))).collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let (config, bars) = small();
    for (device, dtype) in settings() {
        let (a, reports) = run(&device, dtype, &config, &bars);
        let (b, again) = run(&device, dtype, &config, &bars);
        assert!(a == b, "{device}, {dtype}");
        assert_eq!(reports, again);
        let other = Config { seed: config.seed + 1, ..config.clone() };
        assert!(run(&device, dtype, &other, &bars).0 != a, "{device}, {dtype}: the seed decides nothing");
    }
}

/// Three members in one run equal each of them alone, bit for bit, and so does any selection in any order.
#[test]
fn a_member_does_not_depend_on_the_others() {
    let (config, bars) = small();
    for (device, dtype) in settings() {
        let with = |ids: &[u64]| {
            let config = Config { population: ids.len(), members: ids.to_vec(), ..config.clone() };
            run(&device, dtype, &config, &bars)
        };
        let three = Config { population: 3, ..config.clone() };
        let (all, reports) = run(&device, dtype, &three, &bars);
        let numbers: Vec<_> = reports[..3].iter().map(|r| (r.member, r.id)).collect();
        assert_eq!(numbers, [(0, 0), (1, 1), (2, 2)]);
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "members must differ");
        for (id, of_three) in all.iter().enumerate() {
            let (alone, alone_reports) = with(&[id as u64]);
            assert!(alone[0] == *of_three, "{device}, {dtype}: member {id} alone");
            let of_all = reports.iter().filter(|r| r.member == id);
            let same = |(a, b): (&EpochReport, &EpochReport)| {
                (a.loss, a.episode_return) == (b.loss, b.episode_return)
            };
            assert!(of_all.zip(&alone_reports).all(same), "{device}, {dtype}: member {id} alone");
        }
        let (reordered, _) = with(&[2, 9, 0]);
        assert!(reordered[0] == all[2] && reordered[2] == all[0], "{device}, {dtype}: reordered");
        assert!(reordered[1] != all[1], "{device}, {dtype}: another id is another member");
    }
}

/// Programs of a trainer run one by one, without the graph where there is one, equal its epochs.
#[test]
fn replay_equals_the_eager_run() {
    let (mut config, bars) = small();
    let market = Market::prepare(bars, &config).unwrap();
    for device in devices() {
        for (dtype, explore) in DType::ALL.into_iter().flat_map(|t| EXPLORE.map(|e| (t, e))) {
            config.learn.explore = explore;
            let mut replayed = Trainer::new(&device, dtype, &config, &market).unwrap();
            let eager = Trainer::new(&device, dtype, &config, &market).unwrap();
            replayed.epoch().unwrap();
            for (program, times) in eager.programs() {
                let program = eager.runtime().program(program).unwrap();
                for _ in 0..times {
                    program.run_eager().unwrap();
                }
            }
            device.synchronize().unwrap();
            // An epoch starts its counters (tally and loss total) anew when it reports; the rest is the same.
            for t in replayed.state() {
                let name = &replayed.plan().info(*t).name;
                let [a, b] = [&replayed, &eager].map(|x| x.runtime().read_bytes(*t).unwrap());
                assert!(
                    ["tally", "loss.total"].contains(&name.as_str()) || a == b,
                    "{device}, {dtype}: {name}"
                );
            }
        }
    }
}

/// On a CPU all builds of the kernels make the same bytes, weights and replay: products come from one library, and
/// kernels order every sum by index.
#[test]
fn all_builds_make_the_same_bytes() {
    let (mut config, bars) = small();
    for (dtype, explore) in DType::ALL.into_iter().flat_map(|t| EXPLORE.map(|e| (t, e))) {
        config.learn.explore = explore;
        let (base, reports) = run(&Device::cpu_with(Isa::Base), dtype, &config, &bars);
        let mut builds = vec![Isa::Reversed];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            builds.push(Isa::V3);
        }
        for isa in builds {
            let (other, again) = run(&Device::cpu_with(isa), dtype, &config, &bars);
            assert!(other == base, "{dtype}: {isa:?} differs from the base build");
            assert_eq!(reports, again);
        }
    }
}

/// What a member does by the softmax of its values is its own, and falls in temperature with its epochs.
#[test]
fn boltzmann_members_are_their_own_and_cool_down() {
    let (mut config, bars) = small();
    let epsilon = run(&Device::cpu(), DType::F32, &config, &bars).0;
    (config.learn.explore, config.learn.explore_epochs) = (Explore::Boltzmann, 2.0);
    let (alone, reports) = run(&Device::cpu(), DType::F32, &config, &bars);
    for (r, t) in reports.iter().zip([0.5025, 0.005, 0.005]) {
        assert!(r.epsilon == 0.0 && r.temperature.is_some_and(|told| (told - t).abs() < 1e-12), "{r:?}");
    }
    assert!(alone[0] != epsilon[0]);
    config.population = 2;
    let (two, _) = run(&Device::cpu(), DType::F32, &config, &bars);
    assert!(two[0] == alone[0] && two[1] != alone[0]);
    (config.learn.temperature_start, config.population) = (2.0, 1);
    assert!(run(&Device::cpu(), DType::F32, &config, &bars).0 != alone, "the temperature decides nothing");
}

/// Bars that a trained agent has not seen are all tested: nothing that is measured on a training window may come from them.
#[test]
fn unseen_bars_are_measured_by_the_trained_market() {
    const KNOWN: usize = 500;
    const DAY_NS: i64 = 86_400_000_000_000;
    let config = tiny();
    let trained = Market::prepare(waves(900), &config).unwrap();
    let bars = waves(900);
    // Another future: nothing moves any more, and a bar comes once in a day.
    let mut other = bars.clone();
    for row in KNOWN..other.len() {
        let late = (row + 1 - KNOWN) as i64 * DAY_NS;
        other.open_ns[row] += late;
        other.close_ns[row] += late;
        for side in [&mut other.bid.open, &mut other.bid.high, &mut other.bid.low, &mut other.bid.close] {
            side[row] = 220_000;
        }
    }
    let unseen = |bars: &Bars| Market::prepare_unseen(bars.clone(), &config, &trained.taught(), 2).unwrap();
    let (a, b) = (unseen(&bars), unseen(&other));
    assert_eq!(a.volatility_floor_e9, b.volatility_floor_e9);
    assert_eq!(a.table.context[..KNOWN], b.table.context[..KNOWN]);
    assert_eq!(a.features.values[..KNOWN * a.features.cols], b.features.values[..KNOWN * b.features.cols]);
    // Measured on themselves they differ: the futures are others indeed.
    let own = |bars: &Bars| Market::prepare(bars.clone(), &config).unwrap();
    let (a, b) = (own(&bars), own(&other));
    assert_ne!(a.volatility_floor_e9, b.volatility_floor_e9);
    assert_ne!(a.table.context[..KNOWN], b.table.context[..KNOWN]);
}
