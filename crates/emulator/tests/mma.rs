//! The fused step in products of warps beside the span, in emulation: both storage types, blocks of every height.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers fail by panicking")]

use foxhunt_core::DType;
use foxhunt_device::{Device, Launch};
use foxhunt_emulator::Hopper;
use foxhunt_kernels::{
    fused::{DqnKernels, DqnShape},
    loss::HeadShape,
};
use foxhunt_testkit::{Agreement, FusedCase, check_fused, fused_bits, fused_repeats};

/// How far the step in F32, which the emulator multiplies without TF32, may be from the span: shares of targets have 16 bits.
const IN_F32: f64 = 1e-3;

struct Size {
    inputs: usize,
    trunk: [usize; 2],
    stream: usize,
    actions: &'static [usize],
    atoms: usize,
}

const SMALL: Size = Size { inputs: 64, trunk: [128, 128], stream: 64, actions: &[9, 3, 3], atoms: 51 };
const ONE_BRANCH: Size = Size { inputs: 192, trunk: [192, 128], stream: 64, actions: &[2], atoms: 16 };
const TWO_BRANCHES: Size = Size { inputs: 64, trunk: [64, 256], stream: 64, actions: &[5, 16], atoms: 64 };
const PEERS: Size = Size { inputs: 128, trunk: [256, 256], stream: 128, actions: &[9, 3, 3], atoms: 51 };
const LARGE: Size = Size { inputs: 256, trunk: [512, 256], stream: 128, actions: &[9, 3, 3], atoms: 51 };

fn case(dtype: DType, size: &Size, batch: usize, members: usize) -> FusedCase {
    let head = HeadShape { actions: size.actions.to_vec(), atoms: size.atoms, v_min: -10.0, v_max: 10.0 };
    let shape = DqnShape { inputs: size.inputs, trunk: size.trunk, stream: size.stream, head };
    FusedCase { kernels: DqnKernels::Mma, dtype, shape, batch, members, mixture: batch % 2 == 1 }
}

fn holds(device: &Device, case: &FusedCase) {
    let agreements = check_fused(device, case).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    let allowed = |a: &Agreement| a.holds() && (case.dtype == DType::Bf16 || a.difference <= IN_F32);
    let wrong: Vec<_> = agreements.iter().filter(|a| !allowed(a)).collect();
    assert!(wrong.is_empty(), "{case:?}: {wrong:#?}");
}

/// The launch with blocks of `ROWS` rows, of which the last may have none.
fn in_blocks<const ROWS: u32>(launch: Launch) -> Launch {
    let mut launch = launch;
    if let Some((_, rows)) = launch.defines.iter_mut().find(|(name, _)| *name == "DQN_ROWS") {
        launch.teams = (launch.teams * *rows).div_ceil(ROWS);
        *rows = ROWS;
    }
    launch
}

/// In blocks of 16 rows, which so few are given.
fn holds_in_both(seed: u64, size: &Size, batch: usize, members: usize) {
    for dtype in DType::ALL {
        holds(&Hopper::device(seed), &case(dtype, size, batch, members));
    }
}

#[test]
fn three_branches() {
    holds_in_both(1, &SMALL, 65, 2);
}

#[test]
fn one_branch_and_few_atoms() {
    holds_in_both(2, &ONE_BRANCH, 70, 2);
}

#[test]
fn two_branches_and_64_atoms() {
    holds_in_both(3, &TWO_BRANCHES, 37, 1);
}

#[test]
fn one_row_of_the_network_of_the_peers() {
    holds_in_both(4, &PEERS, 1, 1);
}

/// In BF16 one row says little of what is right.
#[test]
fn the_network_of_the_configuration() {
    holds(&Hopper::device(5), &case(DType::F32, &LARGE, 1, 1));
}

#[test]
fn blocks_of_32_rows_in_f32() {
    for (size, batch) in [(&SMALL, 67), (&TWO_BRANCHES, 35), (&PEERS, 20), (&LARGE, 1)] {
        holds(&Hopper::changing(6, in_blocks::<32>), &case(DType::F32, size, batch, 1));
    }
}

#[test]
fn the_height_of_blocks_changes_no_bit_in_bf16() {
    for (size, batch) in [(&SMALL, 67), (&TWO_BRANCHES, 35), (&PEERS, 35)] {
        let case = case(DType::Bf16, size, batch, 1);
        let of = |device: Device| fused_bits(&device, &case).unwrap();
        let low = of(Hopper::device(7));
        assert!(low == of(Hopper::changing(8, in_blocks::<32>)), "32: {case:?}");
        assert!(low == of(Hopper::changing(9, in_blocks::<64>)), "64: {case:?}");
    }
}

#[test]
fn neither_order_nor_members_change_a_bit() {
    for dtype in DType::ALL {
        let case = case(dtype, &SMALL, 35, 3);
        assert_eq!(fused_repeats(&Hopper::device(10), &case).unwrap(), 0, "{case:?}");
    }
}
