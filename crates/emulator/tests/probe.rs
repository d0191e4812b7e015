//! The emulator itself: copies and products beside plain loops, and faults that it must find.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers fail by panicking")]

use foxhunt_core::{Bf16, DType};
use foxhunt_device::{Command, Kernel, KernelTree, Launch, MemberPtr, Program, TENSOR_MAP_BYTES, TensorMap};
use foxhunt_emulator::Hopper;

const ROWS: usize = 70;
const COLUMNS: usize = 72;
const MEMBERS: usize = 2;
const SUMS: usize = 4096;
static TREE: KernelTree = KernelTree { sources: &[], kernels: &[] };

/// `ProbeArgs` of `probe.cu`.
#[repr(C, align(64))]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Args {
    maps: [[u64; TENSOR_MAP_BYTES / 8]; 3],
    sums: MemberPtr,
    column: i32,
    row: i32,
    padding: [u64; 5],
}

struct Out {
    to: Vec<f32>,
    sums: Vec<f32>,
}

/// A small whole number of each element, which BF16 holds.
fn number(member: usize, row: usize, column: usize, salt: usize) -> f32 {
    ((member * 31 + row * 7 + column * 3 + salt) % 17) as f32 - 8.0
}

fn matrix(salt: usize) -> Vec<u16> {
    (0..MEMBERS * ROWS * COLUMNS)
        .map(|i| number(i / (ROWS * COLUMNS), i / COLUMNS % ROWS, i % COLUMNS, salt))
        .map(|x| Bf16::from_f32(x).to_bits())
        .collect()
}

fn probe(name: &'static str, seed: u64, (row, column): (i32, i32)) -> Result<Out, String> {
    let device = Hopper::device(seed);
    let bytes = 2 * MEMBERS * ROWS * COLUMNS;
    let arena = device.allocate(3 * bytes + 4 * MEMBERS * SUMS).unwrap();
    arena.write(0, &matrix(0)).unwrap();
    arena.write(bytes, &matrix(5)).unwrap();
    arena.write(2 * bytes, &vec![0xffff_u16; bytes / 2]).unwrap();
    let map = |slot: usize| TensorMap {
        at: slot * TENSOR_MAP_BYTES,
        addr: arena.addr() + (slot * bytes) as u64,
        sizes: [COLUMNS as u64, ROWS as u64, MEMBERS as u64],
        strides: [2 * COLUMNS as u64, 2 * (ROWS * COLUMNS) as u64],
    };
    let sums = MemberPtr { addr: arena.addr() + 3 * bytes as u64, stride: SUMS as i64 };
    let args = Args { maps: [[0; 16]; 3], sums, column, row, padding: [0; 5] };
    let launch = Launch {
        kernel: Box::leak(Box::new(Kernel { name, file: "probe.cu", host: &[] })),
        dtype: DType::Bf16,
        defines: Vec::new(),
        args: bytemuck::bytes_of(&args).to_vec(),
        maps: (0..3).map(map).collect(),
        beside: false,
        teams: if name == "probe_cluster" { 8 } else { 1 },
        members: MEMBERS as u32,
        reads: Vec::new(),
        writes: Vec::new(),
        early: Vec::new(),
    };
    let program =
        Program::compile(&device, &TREE, vec![Command::Launch(launch)]).map_err(|e| e.to_string())?;
    program.run(1).map_err(|e| e.to_string())?;
    let to: Vec<u16> = arena.read(2 * bytes, bytes / 2).unwrap();
    let to = to.into_iter().map(|x| Bf16::from_bits(x).to_f32()).collect();
    Ok(Out { to, sums: arena.read(3 * bytes, MEMBERS * SUMS).unwrap() })
}

#[test]
fn copies_keep_inside_the_matrix() {
    for corner in [(0, 0), (9, 16), (-3, 8), (64, 64)] {
        let out = probe("probe_copy", 1, corner).unwrap();
        for (i, x) in out.to.iter().enumerate() {
            let (m, r, c) = (i / (ROWS * COLUMNS), i / COLUMNS % ROWS, i % COLUMNS);
            let (from_r, from_c) = (r as i32 + corner.0, c as i32 + corner.1);
            if r >= 64 || c >= 64 {
                assert!(x.is_nan(), "{corner:?} ({r}, {c}): beyond the block, {x}");
                continue;
            }
            let inside = (0..ROWS as i32).contains(&from_r) && (0..COLUMNS as i32).contains(&from_c);
            let expected = if inside { number(m, from_r as usize, from_c as usize, 0) } else { 0.0 };
            assert_eq!(*x, expected, "{corner:?} ({r}, {c})");
        }
    }
}

#[test]
fn products_are_those_of_matrices() {
    for (name, transposed) in [("probe_along", false), ("probe_across", true)] {
        for seed in 0..4 {
            let out = probe(name, seed, (0, 0)).unwrap();
            for (i, x) in out.sums.iter().enumerate() {
                let (m, r, c) = (i / SUMS, i / 64 % 64, i % 64);
                let term = |k: usize| {
                    if transposed {
                        number(m, k, r, 0) * number(m, k, c, 5)
                    } else {
                        number(m, r, k, 0) * number(m, c, k, 5)
                    }
                };
                assert_eq!(*x, (0..64).map(term).sum::<f32>(), "{name} ({r}, {c})");
            }
        }
    }
}

#[test]
fn blocks_of_a_cluster_write_to_one_another() {
    let out = probe("probe_cluster", 3, (0, 0)).unwrap();
    for (i, x) in out.sums.chunks(SUMS).flat_map(|m| &m[..8 * 128]).enumerate() {
        let (rank, thread) = (i / 128 % 4, i % 128);
        assert_eq!(*x, (100 * ((rank + 3) % 4) + thread) as f32, "{rank} {thread}");
    }
}

#[test]
fn faults_are_found() {
    for (name, message) in [
        ("probe_unpublished", "wrote and did not publish"),
        ("probe_unread", "ends while its stores still read shared memory"),
        ("probe_deadlock", "thread 0 of block 0, member 0: waits for parity 0 of the barrier"),
        ("probe_beyond", "of shared memory: beyond it"),
        ("probe_unmade", "thread 3 of block 0, member 0: no barrier was made at"),
        (
            "probe_over_barrier",
            "thread 7 of block 0, member 0: writes to 0x4404 of shared memory, where a barrier lies",
        ),
        ("probe_crowd", "thread 5 of block 0, member 0: the barrier at"),
    ] {
        let Err(what) = probe(name, 5, (0, 0)) else { panic!("{name} passed") };
        assert!(what.contains(message), "{name}: {what}");
    }
}
