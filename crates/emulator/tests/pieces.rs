//! Copies that a thread need not wait for, in the emulator itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers fail by panicking")]

use foxhunt_core::DType;
use foxhunt_device::{Command, Kernel, KernelTree, Launch, MemberPtr, Program};
use foxhunt_emulator::Hopper;

const MEMBERS: usize = 2;
/// Bytes of a member: 64 pieces.
const BYTES: usize = 64 * 16;
static TREE: KernelTree = KernelTree { sources: &[], kernels: &[] };

/// What went in, and what came out.
fn probe(name: &'static str, dtype: DType, seed: u64) -> Result<(Vec<u8>, Vec<u8>), String> {
    let device = Hopper::device(seed);
    let arena = device.allocate(2 * MEMBERS * BYTES).unwrap();
    let from: Vec<u8> = (0..MEMBERS * BYTES).map(|i| (i * 7 % 251) as u8).collect();
    arena.write(0, &from).unwrap();
    arena.write(MEMBERS * BYTES, &vec![0x55_u8; MEMBERS * BYTES]).unwrap();
    let stride = (BYTES / dtype.bytes()) as i64;
    let place = |i: usize| MemberPtr { addr: arena.addr() + (i * MEMBERS * BYTES) as u64, stride };
    let launch = Launch {
        kernel: Box::leak(Box::new(Kernel { name, file: "pieces.cu", host: &[] })),
        dtype,
        defines: Vec::new(),
        args: bytemuck::bytes_of(&[place(0), place(1)]).to_vec(),
        maps: Vec::new(),
        beside: false,
        teams: 1,
        members: MEMBERS as u32,
        reads: Vec::new(),
        writes: Vec::new(),
        early: Vec::new(),
    };
    let program =
        Program::compile(&device, &TREE, vec![Command::Launch(launch)]).map_err(|e| e.to_string())?;
    program.run(1).map_err(|e| e.to_string())?;
    Ok((from, arena.read(MEMBERS * BYTES, MEMBERS * BYTES).unwrap()))
}

#[test]
fn what_is_waited_for_is_there() {
    for dtype in DType::ALL {
        for seed in 0..8 {
            let (from, to) = probe("pieces_waited_for", dtype, seed).unwrap();
            assert_eq!(from, to, "{dtype} {seed}");
        }
    }
}

#[test]
fn what_is_not_waited_for_is_not_there() {
    for dtype in DType::ALL {
        let (from, to) = probe("pieces_read_early", dtype, 1).unwrap();
        assert_ne!(from, to, "{dtype}");
    }
}

#[test]
fn faults_are_found() {
    for (name, message) in [
        ("pieces_left_behind", "ends while its copies are on their way"),
        ("pieces_askew", "which is not aligned to 16 bytes"),
        ("pieces_beyond", "of shared memory: beyond it"),
    ] {
        for dtype in DType::ALL {
            let Err(what) = probe(name, dtype, 5) else { panic!("{name} passed") };
            assert!(what.contains(message), "{name}: {what}");
        }
    }
}
