//! Launchers of `adamw.cu`.

use crate::{Element, KernelError, View, args, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

/// Packs of eight elements in a tile; a tile belongs to one tensor.
pub const TILE_PACKS: usize = 256;

/// Per-member counters on the device: the mirror of `OptimiserState`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct OptimiserState {
    /// Steps taken.
    pub step: u64,
    /// beta1^step as Q0.64; 0 stands for 1, before the first step.
    pub beta1_power: u64,
    /// beta2^step as Q0.64.
    pub beta2_power: u64,
}

/// Per-member hyperparameters on the device, in fixed point: BF16 would store a beta of 0.999 as 1.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Hyper {
    /// beta1, Q0.64.
    pub beta1_q64: u64,
    /// beta2, Q0.64.
    pub beta2_q64: u64,
    /// epsilon, Q0.64.
    pub eps_q64: u64,
    /// The member's Philox key.
    pub seed: u64,
    /// Learning rate, 2^-40.
    pub lr_q40: u32,
    /// EMA rate of the target, 2^-32.
    pub tau_q32: u32,
    /// Decoupled weight decay, 2^-32.
    pub decay_q32: u32,
    /// Largest global gradient norm, 2^-16; 0 is no clip.
    pub clip_q16: u32,
}

/// Which part of which tensor a tile of the linear image is: the mirror of `Tile`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Tile {
    /// The tensor's number in random counters.
    pub tensor: u32,
    /// Logical pack of the tile's first pack.
    pub first: u32,
    /// Packs of the tile that hold parameters.
    pub packs: u32,
    /// 1 if weight decay applies.
    pub decays: u32,
}

/// Buffers of an AdamW step. The five images are rows of one tile each: `[tiles, 2048]`.
#[derive(Debug)]
pub struct AdamW<'a> {
    /// Weights, first and second moment, EMA target: read and overwritten.
    pub state: [&'a View; 4],
    /// Gradients.
    pub gradient: &'a View,
    /// Counters, one per member.
    pub counters: &'a View,
    /// Hyperparameters, one per member.
    pub hyper: &'a View,
    /// Factor of the gradients, one per member.
    pub clip: &'a View,
    /// One [`Tile`] per tile, shared by all members.
    pub tiles: &'a View,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct AdamArgs {
    state: [MemberPtr; 4],
    gradient: MemberPtr,
    counters: MemberPtr,
    hyper: MemberPtr,
    clip: MemberPtr,
    tiles: MemberPtr,
}

/// One AdamW step with EMA target.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn adamw(dtype: DType, members: usize, x: &AdamW<'_>) -> Result<Launch, KernelError> {
    let check = Check::new("adamw", members);
    let tiles = x.tiles.rows;
    for image in x.state.into_iter().chain([x.gradient]) {
        check.view(image, Element::Real(dtype), tiles, 8 * TILE_PACKS)?;
        check.that(image.ld == image.cols, || format!("{} is not one linear image", image.name))?;
    }
    check.view(x.counters, Element::Struct(24), 1, 1)?;
    check.view(x.hyper, Element::Struct(48), 1, 1)?;
    check.view(x.clip, Element::Real(dtype), 1, 1)?;
    check.view(x.tiles, Element::Struct(16), tiles, 1)?;
    Ok(Launch {
        kernel: &tree::ADAMW,
        dtype,
        defines: Vec::new(),
        args: args(&AdamArgs {
            state: x.state.map(View::ptr),
            gradient: x.gradient.ptr(),
            counters: x.counters.ptr(),
            hyper: x.hyper.ptr(),
            clip: x.clip.ptr(),
            tiles: x.tiles.ptr(),
        }),
        teams: tiles as u32,
        members: members as u32,
        reads: [x.gradient, x.counters, x.hyper, x.clip, x.tiles]
            .into_iter()
            .chain(x.state)
            .map(View::region)
            .collect(),
        writes: x.state.into_iter().map(View::region).collect(),
    })
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct AdvanceArgs {
    counters: MemberPtr,
    hyper: MemberPtr,
}

/// Advances the step counter and the powers of beta, before the step.
///
/// # Errors
/// Buffers that don't fit.
pub fn adamw_advance(dtype: DType, members: usize, counters: &View, hyper: &View) -> Result<Launch, KernelError> {
    let check = Check::new("adamw_advance", members);
    check.view(counters, Element::Struct(24), 1, 1)?;
    check.view(hyper, Element::Struct(48), 1, 1)?;
    Ok(Launch {
        kernel: &tree::ADAMW_ADVANCE,
        dtype,
        defines: Vec::new(),
        args: args(&AdvanceArgs { counters: counters.ptr(), hyper: hyper.ptr() }),
        teams: 1,
        members: members as u32,
        reads: vec![counters.region(), hyper.region()],
        writes: vec![counters.region()],
    })
}
