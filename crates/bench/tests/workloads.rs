//! Every workload runs at a small size, and what it tells holds together. No time is asserted.
#![allow(clippy::unwrap_used, reason = "tests")]

use foxhunt_bench::{
    BacktestBench, BenchError, CollectBench, EpochBench, Machine, MachineBench, Network, Outcome, Rate,
    Setting, Soak, StepBench, Work, header, json, row,
};
use foxhunt_core::{DType, Weights};
use foxhunt_device::Device;
use foxhunt_train::{Config, Size};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

/// A machine that moves 10 GB and multiplies 1e12 a second.
const MACHINE: Machine = Machine { copy_gb_per_s: 10.0, matrix_tflop_per_s: 1.0 };

/// What a result prints: a line as wide as its titles, and an object with its setting.
fn printed<R: Outcome>(result: &R) -> Value {
    assert_eq!(R::columns().len(), result.cells().len());
    // A note stands before the titles.
    let header = header::<R>();
    let (note, titles) = header.split_once('\n').unwrap_or(("", &header));
    assert_eq!(note.starts_with("of copy: "), titles.contains("of copy"));
    assert!(row(result).len() >= titles.len());
    let setting = Setting::of(&Device::cpu(), true);
    let text = serde_json::to_string(&json(&setting, result)).unwrap();
    assert!(!text.contains('\n'));
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["workload"], R::WORKLOAD);
    assert_eq!(value["tf32"], false, "a CPU has none");
    assert!(value["device"].as_str().unwrap().starts_with("CPU"));
    value
}

/// Rates are work over time, and shares are rates over the machine's.
fn consistent(value: &Value, rate: &Rate) {
    let us = value["us"].as_f64().unwrap();
    assert!(us > 0.0 && rate.work.bytes > 0 && rate.work.operations > 0, "{value}");
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} is not {b}: {value}");
    close(rate.gb_per_s, rate.work.bytes as f64 / us / 1e3);
    close(rate.bandwidth_share.unwrap(), rate.gb_per_s / MACHINE.copy_gb_per_s);
    close(rate.matrix_share.unwrap(), rate.work.operations as f64 / us / 1e6);
    assert_eq!(value["bytes"].as_u64(), Some(rate.work.bytes));
}

#[test]
fn a_machine_is_measured_in_both_types() {
    let device = Device::cpu();
    let sizes = MachineBench { copy_bytes: 1 << 20, matrix: 64, runs: 1, repetitions: 3 };
    for dtype in DType::ALL {
        let r = sizes.run(&device, dtype).unwrap();
        assert!(r.machine.copy_gb_per_s > 0.0 && r.machine.matrix_tflop_per_s > 0.0);
        assert_eq!((r.copy_bytes, r.copy.repetitions), (1 << 20, 3));
        assert_eq!(printed(&r)["matrix"], 64);
    }
    assert_eq!(device.memory().unwrap().allocated, 0, "everything was given back");
}

#[test]
fn a_step_is_timed() {
    let (dtype, batch, weights) = (DType::F32, 32, Weights::Plain);
    let sizes = StepBench {
        batch,
        population: 2,
        dtype,
        weights,
        replay_rows: 256,
        steps: 1,
        repetitions: 3,
        kernels: None,
    };
    let r = sizes.run(&Device::cpu(), Some(&MACHINE)).unwrap();
    let value = printed(&r);
    consistent(&value, &r.rate);
    assert_eq!(r.rate.work.operations, 64 * 3_272_704);
    assert_eq!(value["us_per_member"].as_f64().unwrap() * 2.0, value["us"].as_f64().unwrap());
}

/// Ten thousand steps would take minutes here; what a step did to memory, a hundred show, and `foxhunt bench step --soak`
/// takes as many as it is told on any device.
#[test]
fn steps_neither_allocate_nor_wait_nor_copy() {
    let device = Device::cpu();
    for dtype in DType::ALL {
        let sizes = StepBench {
            batch: 8,
            population: 2,
            dtype,
            weights: Weights::Paired,
            replay_rows: 64,
            steps: 1,
            repetitions: 1,
            kernels: None,
        };
        let r = sizes.soak(&device, Soak { steps: 100 }).unwrap();
        assert_eq!(r.allocated.0, r.allocated.1);
        assert!(r.allocated.0 > 0 && r.loss.is_finite());
        let value = printed(&r);
        let stored = if dtype == DType::Bf16 { "paired" } else { "plain" };
        assert_eq!((&value["steps"], &value["weights"]), (&100.into(), &stored.into()), "f32 has no pairs");
        assert_eq!(device.memory().unwrap().allocated, 0, "the step was given back");
    }
}

/// Somebody who waits for the device while the steps run is noticed.
#[test]
fn a_wait_fails_a_soak() {
    let device = Device::cpu();
    let (dtype, done) = (DType::F32, AtomicBool::new(false));
    let sizes = StepBench {
        batch: 8,
        population: 1,
        dtype,
        weights: Weights::Plain,
        replay_rows: 64,
        steps: 1,
        repetitions: 1,
        kernels: None,
    };
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                device.synchronize().unwrap();
                std::thread::yield_now();
            }
        });
        let seen = sizes.soak(&device, Soak { steps: 50 });
        done.store(true, Ordering::Relaxed);
        seen
    });
    let error = seen.unwrap_err();
    assert!(matches!(error, BenchError::Soak { steps: 50, .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("0 allocations, 0 transfers") && !said.contains(" 0 waits"), "{said}");
}

/// The counts by which a soak judges move with what they count.
#[test]
fn a_device_counts_what_it_is_asked_for() {
    let device = Device::cpu();
    let before = device.counts();
    let arena = device.allocate(64).unwrap();
    arena.write(0, &[1_u8, 2]).unwrap();
    arena.read::<u8>(0, 2).unwrap();
    arena.fill(0, 4, 0).unwrap();
    device.synchronize().unwrap();
    let after = device.counts();
    assert_eq!(after.allocations - before.allocations, 1);
    assert_eq!(after.transfers - before.transfers, 3);
    assert_eq!(after.waits - before.waits, 1);
}

#[test]
fn collecting_is_timed() {
    let device = Device::cpu();
    let sizes = CollectBench {
        envs: 16,
        population: 2,
        dtype: DType::F32,
        network: Network::Peers,
        bars: 4_096,
        steps: 2,
        repetitions: 5,
    };
    let r = sizes.run(&device, Some(&MACHINE)).unwrap();
    let value = printed(&r);
    consistent(&value, &r.rate);
    assert_eq!((value["network"].as_str(), value["repetitions"].as_u64()), (Some("peers"), Some(5)));
    // 32 rows through 128 x 256, 256 x 256, 256 x 512 and 16 units of 128 x 51.
    let row = 2 * (128 * 256 + 256 * 256 + 256 * 512 + 16 * 128 * 51);
    assert_eq!(r.rate.work.operations, 32 * row);
    let per_s = 32.0 / r.timing.us * 1e6;
    assert!((r.env_steps_per_s / per_s - 1.0).abs() < 1e-9);
    // Neither the replay nor the market is moved whole: a longer market costs nothing.
    let long = CollectBench { bars: 8_192, repetitions: 1, ..sizes }.run(&device, None).unwrap();
    assert_eq!(long.rate.work, r.rate.work);
    assert_eq!(long.rate.bandwidth_share, None);
}

#[test]
fn every_network_fits_the_features() {
    for network in [Network::Peers, Network::Bench, Network::Small] {
        assert_eq!(network.to_string().parse(), Ok(network));
        let sizes = CollectBench {
            envs: 2,
            population: 1,
            dtype: DType::Bf16,
            network,
            bars: 4_096,
            steps: 1,
            repetitions: 1,
        };
        assert!(sizes.run(&Device::cpu(), None).unwrap().rate.work.operations > 0, "{network}");
    }
}

#[test]
fn an_epoch_is_its_two_parts() {
    let set = ["learn.envs=16", "learn.collect=64", "learn.updates=2", "learn.batch=8", "learn.replay=1024"]
        .map(String::from);
    let config = Config::resolve(None, Some(Size::Small), &set).unwrap();
    let sizes = EpochBench { size: "small".into(), config, dtype: DType::F32, bars: 4_096, repetitions: 3 };
    let r = sizes.run(&Device::cpu(), Some(&MACHINE)).unwrap();
    let value = printed(&r);
    consistent(&value, &r.rate);
    assert_eq!(value["weights"], "plain");
    assert!(r.collect_seconds > 0.0 && r.learn_seconds > 0.0);
    // 64 decisions forward, and 2 updates of 8 samples, which are three times forward and twice back but for one layer.
    let (first, rest) = (64 * 128, 128 * 128 + 128 * 256 + 16 * 64 * 51);
    let forward = 2 * (first + rest);
    assert_eq!(r.rate.work.operations, 64 * forward + 16 * (3 * forward + 2 * (first + 2 * rest)));
}

#[test]
fn a_backtest_is_timed_to_its_last_bar() {
    let sizes =
        BacktestBench { members: 3, bars: 40, dtype: DType::F32, network: Network::Small, repetitions: 3 };
    let r = sizes.run(&Device::cpu(), Some(&MACHINE)).unwrap();
    consistent(&printed(&r), &r.rate);
    assert_eq!(r.decisions, 3 * 40, "no account stopped before the end");
    assert!(BacktestBench { bars: 0, ..sizes }.run(&Device::cpu(), None).is_err());
}

#[test]
fn without_a_machine_there_are_no_shares() {
    let rate = Rate::new(Work { bytes: 2_000, operations: 6_000_000 }, 2.0, None);
    assert_eq!((rate.gb_per_s, rate.tflop_per_s), (1.0, 3.0));
    assert_eq!((rate.bandwidth_share, rate.matrix_share), (None, None));
}
