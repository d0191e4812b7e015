//! The fused step in products of warps beside the span, in emulation: both storage types, blocks of every height.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers fail by panicking")]

use foxhunt_core::DType;
use foxhunt_device::{Device, Launch};
use foxhunt_emulator::Hopper;
use foxhunt_kernels::{
    fused::{DqnKernels, DqnShape},
    loss::HeadShape,
};
use foxhunt_testkit::{FusedCase, check_fused, fused_repeats};

fn case(
    dtype: DType,
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
    FusedCase { kernels: DqnKernels::Mma, dtype, shape, batch, members, mixture: batch % 2 == 1 }
}

fn holds(device: &Device, case: &FusedCase) {
    let agreements = check_fused(device, case).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    let wrong: Vec<_> = agreements.iter().filter(|a| !a.holds()).collect();
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

#[test]
fn the_small_network() {
    for dtype in DType::ALL {
        holds(&Hopper::device(1), &case(dtype, 64, [128, 128], 64, &[9, 3, 3], 51, 65, 2));
    }
}
