//! The fused step beside the span, in emulation: what `foxhunt device --check` does on a Hopper GPU, on sizes that are small.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers fail by panicking")]

use foxhunt_core::DType;
use foxhunt_emulator::Hopper;
use foxhunt_kernels::{
    fused::{DqnKernels, DqnShape},
    loss::HeadShape,
};
use foxhunt_testkit::{FusedCase, check_fused, check_fused_act, fused_repeats};

fn case(
    inputs: usize,
    trunk: [usize; 2],
    stream: usize,
    actions: &[usize],
    atoms: usize,
    batch: usize,
    members: usize,
) -> FusedCase {
    let head = HeadShape { actions: actions.to_vec(), atoms, v_min: -10.0, v_max: 10.0 };
    let shape = DqnShape { inputs, trunk, stream, head };
    FusedCase {
        kernels: DqnKernels::Hopper,
        dtype: DType::Bf16,
        shape,
        batch,
        members,
        mixture: batch % 2 == 1,
    }
}

fn holds(case: &FusedCase, seed: u64) {
    let agreements = check_fused(&Hopper::device(seed), case).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    let wrong: Vec<_> = agreements.iter().filter(|a| !a.holds()).collect();
    assert!(wrong.is_empty(), "{case:?}: {wrong:#?}");
}

#[test]
fn five_blocks_share_a_tile() {
    holds(&case(64, [128, 128], 64, &[9, 3, 3], 51, 64, 2), 1);
}

#[test]
fn three_blocks_share_a_tile() {
    holds(&case(64, [128, 128], 64, &[9, 3, 3], 51, 701, 3), 2);
}

#[test]
fn two_groups_of_a_block() {
    holds(&case(64, [128, 128], 64, &[9, 3, 3], 51, 2050, 5), 3);
}

#[test]
fn one_branch_and_few_atoms() {
    holds(&case(192, [192, 128], 64, &[2], 16, 333, 2), 4);
}

#[test]
fn two_branches_and_64_atoms() {
    holds(&case(64, [64, 256], 64, &[5, 16], 64, 130, 1), 5);
}

#[test]
fn one_row_of_the_network_of_the_peers() {
    holds(&case(128, [256, 256], 128, &[9, 3, 3], 51, 1, 1), 6);
}

#[test]
fn neither_order_nor_members_change_a_bit() {
    let case = case(64, [128, 128], 64, &[9, 3, 3], 51, 65, 2);
    assert_eq!(fused_repeats(&Hopper::device(7), &case).unwrap(), 0);
}

/// More members, fewer blocks for a tile: five and three, three and one of two groups.
#[test]
fn how_many_blocks_share_a_tile_changes_no_bit() {
    for (batch, members) in [(701, 5), (970, 3), (2050, 5)] {
        let case = case(64, [128, 128], 64, &[9, 3, 3], 51, batch, members);
        assert_eq!(fused_repeats(&Hopper::device(8), &case).unwrap(), 0, "batch {batch}");
    }
}

/// Of one group and of two; of as many blocks as tiles, and of one and three that take them in turn.
#[test]
fn blocks_act_for_tiles_in_turn() {
    for (batch, members, blocks) in [(1, 1, 1), (453, 2, 1), (453, 2, 3), (2050, 5, 3)] {
        let case = case(64, [128, 128], 64, &[9, 3, 3], 51, batch, members);
        let agreement = check_fused_act(&Hopper::device(9), &case, blocks).unwrap();
        assert!(agreement.holds(), "batch {batch}, {blocks} blocks: {agreement:?}");
    }
}
