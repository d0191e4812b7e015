//! The GPU half against the CPU half, with a kernel tree of its own. Passes with a note where there is no GPU.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests panic as tests do")]

use foxhunt_core::{Bf16, DType};
use foxhunt_device::{
    Arena, Command, Device, DeviceError, Gemm, Kernel, KernelTree, Launch, Operand, Program, Region, Source,
    training_dtype,
};
use std::process::Command as Process;

const BASE: &str = r#"
#pragma once
struct KernelInfo { unsigned args_bytes, shared_bytes, threads, teams; };
#define INFO(name, Args, shared) \
  extern "C" __device__ KernelInfo name##_info; \
  extern "C" __device__ KernelInfo name##_info = {sizeof(Args), shared, 32, 1}
"#;
const WORK: &str = r#"
#include "base.cuh"
#ifndef DELTA
#define DELTA 1
#endif
struct Args { unsigned* x; long long stride; };
INFO(test_add, Args, 0);
extern "C" __global__ void test_add(const __grid_constant__ Args a) {
  if (threadIdx.x == 0) a.x[blockIdx.y * a.stride + blockIdx.x] += DELTA;
}
extern __shared__ unsigned pool[];
INFO(test_shared, Args, 90000);
extern "C" __global__ void test_shared(const __grid_constant__ Args a) {
  pool[22499 - threadIdx.x] = threadIdx.x + 1;
  __syncwarp();
  if (threadIdx.x == 0) a.x[blockIdx.y * a.stride + blockIdx.x] += pool[22499 - 31];
}
INFO(test_fault, Args, 0);
extern "C" __global__ void test_fault(const __grid_constant__ Args a) { *(volatile unsigned*)16 = 1; }
"#;
static TREE: KernelTree = KernelTree {
    sources: &[
        Source { name: "base.cuh", text: BASE },
        Source { name: "work.cu", text: WORK },
        Source { name: "broken.cu", text: "#include \"base.cuh\"\nthis is no C++;\n" },
        Source { name: "lost.cu", text: "#include \"nowhere.cuh\"\n" },
    ],
    kernels: &[],
};
static ADD: Kernel = Kernel { name: "test_add", file: "work.cu", host: &[] };
static SHARED: Kernel = Kernel { name: "test_shared", file: "work.cu", host: &[] };
static FAULT: Kernel = Kernel { name: "test_fault", file: "work.cu", host: &[] };
static ABSENT: Kernel = Kernel { name: "test_absent", file: "work.cu", host: &[] };
static BROKEN: Kernel = Kernel { name: "broken", file: "broken.cu", host: &[] };
static LOST: Kernel = Kernel { name: "lost", file: "lost.cu", host: &[] };

fn gpu() -> Option<Device> {
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(e) => {
            println!("skipped: {e}");
            None
        }
    }
}

fn region(arena: &Arena) -> Region {
    Region { name: "x".into(), addr: arena.addr(), bytes: arena.bytes() }
}

/// `teams` counters of each of `members` members, 100 elements apart.
fn launch(kernel: &'static Kernel, arena: &Arena, teams: u32, members: u32) -> Launch {
    let mut args = arena.addr().to_le_bytes().to_vec();
    args.extend(100_i64.to_le_bytes());
    Launch {
        kernel,
        dtype: DType::F32,
        defines: Vec::new(),
        maps: Vec::new(),
        beside: false,
        args,
        teams,
        members,
        reads: vec![region(arena)],
        writes: vec![region(arena)],
        early: Vec::new(),
    }
}

fn refuse(device: &Device, launch: Launch) -> String {
    match Program::compile(device, &TREE, vec![Command::Launch(launch)]) {
        Ok(_) => panic!("compiled"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn a_graph_replays_what_the_eager_run_does() {
    let Some(device) = gpu() else { return };
    assert_eq!(training_dtype(&device), DType::Bf16);
    let arena = device.allocate(4 * 1000).unwrap();
    assert!(arena.read::<u32>(0, 1000).unwrap().iter().all(|&x| x == 0), "memory begins as zero");
    let mut big = launch(&ADD, &arena, 3, 2);
    big.defines = vec![("DELTA", 100)];
    let commands = vec![
        Command::Launch(launch(&ADD, &arena, 3, 2)),
        Command::Launch(launch(&SHARED, &arena, 1, 1)),
        Command::Launch(big),
    ];
    let program = Program::compile(&device, &TREE, commands).unwrap();
    assert!(arena.read::<u32>(0, 1000).unwrap().iter().all(|&x| x == 0), "a capture runs nothing");
    program.run_eager().unwrap();
    program.run(3).unwrap();
    device.synchronize().unwrap();
    let x = arena.read::<u32>(0, 1000).unwrap();
    let expected = |i: usize| match i {
        0 => 4 * (101 + 32),
        1 | 2 | 100..=102 => 4 * 101,
        _ => 0,
    };
    for (i, &value) in x.iter().enumerate() {
        assert_eq!(value, expected(i), "element {i}");
    }
    arena.fill(0, 4, 0xff).unwrap();
    arena.write(4, &[7_u32]).unwrap();
    assert_eq!(arena.read::<u32>(0, 3).unwrap(), [u32::MAX, 7, 404]);
    let times = program.time_us(10, 3).unwrap();
    assert!(times.len() == 3 && times.iter().all(|&t| t > 0.0), "{times:?}");
    let memory = device.memory().unwrap();
    assert_eq!(memory.allocated, arena.bytes());
    drop(arena);
    assert_eq!(device.memory().unwrap().allocated, 0);
    drop(program);
    device.synchronize().unwrap();
}

#[test]
fn threads_share_a_device() {
    let Some(device) = gpu() else { return };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let arena = device.allocate(4096).unwrap();
                    let commands = vec![Command::Launch(launch(&SHARED, &arena, 1, 1))];
                    let program = Program::compile(&device, &TREE, commands).unwrap();
                    program.run(5).unwrap();
                    device.synchronize().unwrap();
                    assert_eq!(arena.read::<u32>(0, 1).unwrap(), [160]);
                }
            });
        }
    });
}

#[test]
fn an_empty_program_runs() {
    let Some(device) = gpu() else { return };
    let program = Program::compile(&device, &TREE, Vec::new()).unwrap();
    program.run(2).unwrap();
    program.run_eager().unwrap();
}

#[test]
fn what_cannot_be_launched_says_why() {
    let Some(device) = gpu() else { return };
    let arena = device.allocate(4096).unwrap();
    let mut short = launch(&ADD, &arena, 1, 1);
    short.args.pop();
    let error = refuse(&device, short);
    assert!(
        error.contains("test_add") && error.contains("16 bytes of arguments") && error.contains("15"),
        "{error}"
    );
    let error = refuse(&device, launch(&ADD, &arena, 1, 65_536));
    assert!(error.contains("grid 1x65536, block 32") && error.contains("x (4096 bytes at"), "{error}");
    assert!(refuse(&device, launch(&ADD, &arena, 0, 1)).contains("nothing to do"));
    assert!(refuse(&device, launch(&ABSENT, &arena, 1, 1)).contains("has no kernel test_absent"));
    let error = refuse(&device, launch(&BROKEN, &arena, 1, 1));
    assert!(error.contains("broken.cu(2)") && error.contains("error"), "{error}");
    let error = refuse(&device, launch(&LOST, &arena, 1, 1));
    assert!(error.contains("lost.cu includes nowhere.cuh"), "{error}");
    assert!(arena.read::<u32>(4096, 1).is_err());
}

/// One product on a device: small integers, so that every sum is exact and the bits can be compared.
fn product(
    device: &Device,
    dtype: DType,
    members: usize,
    (ta, tb): (bool, bool),
    (m, n, k): (usize, usize, usize),
) -> (Vec<f32>, Vec<String>) {
    let place = |rows: usize, cols: usize, transposed: bool| {
        let (rows, cols) = if transposed { (cols, rows) } else { (rows, cols) };
        let ld = cols.next_multiple_of(8) + 8;
        (ld, rows * ld)
    };
    let arena = device.allocate(64 << 20).unwrap();
    let mut offset = 0;
    let mut operand = |name: &str, rows, cols, transposed, seed: usize| {
        let (ld, stride) = place(rows, cols, transposed);
        let values: Vec<f32> =
            (0..members * stride).map(|i| ((i * 7 + i / 5 + seed) % 5) as f32 - 2.0).collect();
        match dtype {
            DType::F32 => arena.write(offset, &values).unwrap(),
            DType::Bf16 => {
                let bits: Vec<u16> = values.iter().map(|&x| Bf16::from_f32(x).to_bits()).collect();
                arena.write(offset, &bits).unwrap();
            }
        }
        let bytes = values.len() * dtype.bytes();
        let region = Region { name: name.into(), addr: arena.addr() + offset as u64, bytes };
        offset = (offset + bytes).next_multiple_of(256);
        Operand { region, ld, stride, transposed }
    };
    let a = operand("a", m, k, ta, 1);
    let b = operand("b", k, n, tb, 3);
    let c = operand("c", m, n, false, 0);
    let at = (c.region.addr - arena.addr()) as usize;
    let gemm = Gemm { name: "test".into(), dtype, members, m, n, k, alpha: 0.5, a, b, c: c.clone() };
    let program = Program::compile(device, &TREE, vec![Command::Gemm(gemm)]).unwrap();
    program.run(1).unwrap();
    let elements = members * c.stride;
    let out = match dtype {
        DType::F32 => arena.read::<f32>(at, elements).unwrap(),
        DType::Bf16 => {
            arena.read::<u16>(at, elements).unwrap().iter().map(|&x| Bf16::from_bits(x).to_f32()).collect()
        }
    };
    (out, program.gemm_record())
}

#[test]
fn products_are_those_of_the_cpu_and_do_not_depend_on_the_number_of_members() {
    let Some(device) = gpu() else { return };
    let cpu = Device::cpu();
    for dtype in [DType::Bf16, DType::F32] {
        for shape in [(64, 64, 64), (37, 56, 24), (512, 256, 96), (256, 256, 4096), (1, 8, 8)] {
            for transposed in [(false, false), (false, true), (true, false), (true, true)] {
                let (one, _) = product(&device, dtype, 1, transposed, shape);
                let (three, record) = product(&device, dtype, 3, transposed, shape);
                let (expected, _) = product(&cpu, dtype, 3, transposed, shape);
                let what = format!("{dtype} {transposed:?} {shape:?}: {record:?}");
                assert!(
                    record[0].contains("split_k 1 reduction 0") && !record[0].contains("choice"),
                    "{what}"
                );
                println!("{what}");
                assert_eq!(three, expected, "{what}");
                assert_eq!(one[..], three[..one.len()], "{what}");
            }
        }
    }
}

#[test]
fn f32_products_take_tf32_only_when_told_to() {
    let Some(device) = gpu() else { return };
    let record = |device: &Device| product(device, DType::F32, 1, (false, false), (64, 64, 64)).1.remove(0);
    assert!(!record(&device).contains("tf32"));
    device.set_tf32(true);
    assert!(record(&device).contains("f32 tf32"), "{}", record(&device));
}

/// A fault ends the process's use of the GPU, so it happens in a process of its own.
#[test]
fn a_fault_names_its_kernel_when_each_command_is_waited_for() {
    if gpu().is_none() {
        return;
    }
    let output = Process::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_faults", "--ignored", "--nocapture"])
        .env("FOXHUNT_SYNC", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("command 1: kernel test_fault (f32), grid 1x1, block 32"), "{text}");
}

#[test]
#[ignore = "run by a_fault_names_its_kernel_when_each_command_is_waited_for"]
fn child_that_faults() {
    let device = Device::cuda(0).unwrap();
    let arena = device.allocate(4096).unwrap();
    let commands = [&ADD, &FAULT].map(|k| Command::Launch(launch(k, &arena, 1, 1)));
    let program = Program::compile(&device, &TREE, commands.to_vec()).unwrap();
    let error: DeviceError = program.run(1).unwrap_err();
    println!("{error}");
}
