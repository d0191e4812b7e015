//! The rest of a run: raw bytes of any tensors, and the host's value.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::Random;
use foxhunt_checkpoint::{load_state, read_host, save_state};
use foxhunt_core::DType;
use foxhunt_device::Device;
use foxhunt_kernels::Element;
use foxhunt_nn::{Options, Plan, Runtime, Tensor};
use serde_json::json;
use std::fs;

/// One tensor of every element, with padded rows, several members, a shared one, and one inside another.
fn everything(dtype: DType, members: usize, rows: usize) -> (Runtime, Vec<Tensor>) {
    let mut plan = Plan::new(dtype, members);
    let net = common::network(&mut plan);
    let ring = plan.real_buffer("ring", 2 * rows, 35);
    let tensors = vec![
        net.m,
        net.v,
        net.target,
        plan.rows("ring.half", ring, rows, rows),
        plan.buffer("u8", Element::U8, 3, 5),
        plan.buffer("i32", Element::I32, rows, 3),
        plan.buffer("u32", Element::U32, 1, 9),
        plan.buffer("i64", Element::I64, 2, 2),
        plan.buffer("u64", Element::U64, 1, 1),
        plan.table("struct", Element::Struct(12), 3, 3),
    ];
    (plan.compile(&Device::cpu(), Options::default()).unwrap(), tensors)
}

fn fill(runtime: &Runtime, tensors: &[Tensor], seed: u64) {
    let mut random = Random(seed);
    for t in tensors {
        let bytes: Vec<u8> =
            runtime.read_bytes(*t).unwrap().iter().map(|_| random.below(256) as u8).collect();
        runtime.write_bytes(*t, &bytes).unwrap();
    }
}

#[test]
fn every_kind_of_tensor_comes_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (path, again) = (folder.path().join("state"), folder.path().join("again"));
    let host = json!({ "epoch": 12, "z": [0.1, 1.0e-310, 123_456.789e-7], "a": { "c": 1, "b": u64::MAX } });
    for dtype in DType::ALL {
        let (source, tensors) = everything(dtype, 3, 4);
        fill(&source, &tensors, 1);
        save_state(&path, &source, &tensors, &host).unwrap();
        let (target, _) = everything(dtype, 3, 4);
        assert_eq!(load_state(&path, &target, &tensors).unwrap(), host);
        assert_eq!(read_host(&path).unwrap(), host);
        for t in &tensors {
            assert!(source.read_bytes(*t).unwrap() == target.read_bytes(*t).unwrap());
        }
        // The order in which tensors are listed doesn't matter.
        let reversed: Vec<Tensor> = tensors.iter().rev().copied().collect();
        save_state(&again, &target, &reversed, &host).unwrap();
        assert!(fs::read(&path).unwrap() == fs::read(&again).unwrap());
    }
}

#[test]
fn a_state_of_another_plan_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let (source, tensors) = everything(DType::Bf16, 2, 4);
    fill(&source, &tensors, 1);
    save_state(&path, &source, &tensors, &json!(null)).unwrap();
    let refused = |(runtime, tensors): (Runtime, Vec<Tensor>), needles: &[&str]| {
        let text = load_state(&path, &runtime, &tensors).unwrap_err().to_string();
        for needle in needles {
            assert!(text.contains(needle), "{needle} in {text}");
        }
        for t in &tensors {
            assert!(runtime.read_bytes(*t).unwrap().iter().all(|b| *b == 0));
        }
    };
    refused(everything(DType::F32, 2, 4), &["tensor q.m", "expected F32", "found BF16"]);
    refused(everything(DType::Bf16, 3, 4), &["tensor q.m", "expected BF16 [3, ", "found BF16 [2, "]);
    refused(everything(DType::Bf16, 2, 5), &["ring.half", "[2, 5, 35]", "[2, 4, 35]"]);
    let (runtime, mut fewer) = everything(DType::Bf16, 2, 4);
    fewer.pop();
    refused((runtime, fewer), &["tensor struct", "only the tensors of this run", "U8 [1, 3, 3, 12]"]);

    let twice = [tensors[0], tensors[0]];
    let text = save_state(&path, &source, &twice, &json!(null)).unwrap_err().to_string();
    assert!(text.contains("one tensor of this name, found two"), "{text}");
    assert!(load_state(&path, &source, &tensors).is_ok(), "the old file is still there");
}
