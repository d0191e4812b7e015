//! Launchers of `adamw.cu`.

use super::gradient_norm::MOST_PARTIALS;
use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::{DType, Rounding, Storage, Weights};
use foxhunt_device::{Launch, MemberPtr};

/// Columns of a linear image: the 256 packs of eight that one team updates.
pub const IMAGE_COLUMNS: usize = 2048;

/// Per-member counters on the device: the mirror of `OptimiserState`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct OptimiserState {
    /// Steps taken, skipped ones too.
    pub step: u64,
    /// beta1 to the power of the steps that counted, as Q0.64; 0 stands for 1, before the first step.
    pub beta1_power: u64,
    /// The same of beta2.
    pub beta2_power: u64,
    /// Steps skipped because a gradient was not finite.
    pub skipped: u64,
    /// Teams that are through with a step; 0 between steps.
    pub arrived: u32,
    /// Nothing.
    pub reserved: u32,
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
    /// Learning rate after `lr_steps` steps, 2^-40.
    pub lr_end_q40: u32,
    /// Steps over which the learning rate goes there in a straight line; 0: it stays as it is.
    pub lr_steps: u32,
}

/// An optimiser's numbers as people write them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSettings {
    /// Learning rate at the start, below 2^-8.
    pub learning_rate: f64,
    /// Learning rate at the end of its schedule, below 2^-8.
    pub learning_rate_end: f64,
    /// Steps of the schedule, a straight line; 0 for a constant rate.
    pub learning_rate_steps: u32,
    /// Decay of the first moment, 0 to 1.
    pub beta1: f64,
    /// Decay of the second moment, 0 to 1.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Decoupled weight decay, 0 to 1.
    pub weight_decay: f64,
    /// Largest global gradient norm, below 65,536; 0 is no clip.
    pub clip: f64,
    /// EMA rate of the target, 0 to 1.
    pub tau: f64,
}

impl AdamSettings {
    /// What rl.md trains with; the rate is constant.
    pub const DEFAULT: Self = AdamSettings {
        learning_rate: 3e-4,
        learning_rate_end: 0.0,
        learning_rate_steps: 0,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weight_decay: 0.01,
        clip: 10.0,
        tau: 0.005,
    };
}

impl Hyper {
    /// The fixed-point form; values beyond a range become its end.
    pub fn new(x: &AdamSettings, seed: u64) -> Self {
        // A float-to-integer cast saturates. A beta of 0 becomes 2^-64: 0 would stand for 1.
        let q64 = |x: f64| ((x * 2_f64.powi(64)) as u64).max(1);
        let q = |x: f64, bits: i32| (x * 2_f64.powi(bits)).round() as u32;
        Hyper {
            beta1_q64: q64(x.beta1),
            beta2_q64: q64(x.beta2),
            eps_q64: q64(x.epsilon),
            seed,
            lr_q40: q(x.learning_rate, 40),
            tau_q32: q(x.tau, 32),
            decay_q32: q(x.weight_decay, 32),
            clip_q16: q(x.clip, 16),
            lr_end_q40: q(x.learning_rate_end, 40),
            lr_steps: x.learning_rate_steps,
        }
    }
}

/// Where a pack of eight of the linear image belongs: the mirror of `PackId`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PackId {
    /// `tensor << 1 | decays`: the tensor's number in random counters, and whether weight decay applies.
    pub tensor: u32,
    /// The pack's number among the tensor's logical packs.
    pub element: u32,
}

impl PackId {
    /// A pack that belongs to no tensor: neither read nor written.
    pub const PADDING: PackId = PackId { tensor: u32::MAX, element: u32::MAX };
}

/// Buffers of an AdamW step. The images are `[tiles, 2048]`.
#[derive(Debug)]
pub struct AdamW<'a> {
    /// Weights, first and second moment, EMA target: read and overwritten. Of pairs the high words.
    pub state: [&'a View; 4],
    /// Low words of weights and EMA target, where they are pairs, which needs BF16: read and overwritten.
    pub low: Option<[&'a View; 2]>,
    /// How results are rounded in BF16.
    pub rounding: Rounding,
    /// Gradients.
    pub gradient: &'a View,
    /// One [`OptimiserState`] per member: advanced by a step.
    pub counters: &'a View,
    /// One [`Hyper`] per member.
    pub hyper: &'a View,
    /// Partial squared norms of the gradient.
    pub norm: &'a View,
    /// One [`PackId`] per pack, shared by all members: `[tiles, 256]`.
    pub ids: &'a View,
}

const STATE: Element = Element::Struct(size_of::<OptimiserState>() as u32);
const HYPER: Element = Element::Struct(size_of::<Hyper>() as u32);

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct AdamArgs {
    p: MemberPtr,
    m: MemberPtr,
    v: MemberPtr,
    target: MemberPtr,
    g: MemberPtr,
    state: MemberPtr,
    hyper: MemberPtr,
    norm: MemberPtr,
    ids: MemberPtr,
    low: MemberPtr,
    target_low: MemberPtr,
    packs: i32,
    partials: i32,
    tiles_each: i32,
    padding: i32,
}

/// About as many teams as a large GPU runs at a time: the norm and the step's scalars are worked out once by each. No bit depends on
/// it.
const TEAMS: usize = 256;

/// One AdamW step with global-norm clip and EMA target.
///
/// # Errors
/// Buffers that don't fit one another.
pub fn adamw(dtype: DType, members: usize, x: &AdamW<'_>) -> Result<Launch, KernelError> {
    let weights = if x.low.is_some() { Weights::Paired } else { Weights::Plain };
    let kernel = match (weights, x.rounding) {
        (Weights::Plain, Rounding::Stochastic) => &tree::ADAMW,
        (Weights::Paired, Rounding::Stochastic) => &tree::ADAMW_PAIR,
        (Weights::Plain, Rounding::Nearest) => &tree::ADAMW_NEAREST,
        (Weights::Paired, Rounding::Nearest) => &tree::ADAMW_PAIR_NEAREST,
        (_, Rounding::NearestWeights) => &tree::ADAMW_NEAREST_WEIGHTS,
        (_, Rounding::NearestM) => &tree::ADAMW_NEAREST_M,
        (_, Rounding::NearestV) => &tree::ADAMW_NEAREST_V,
        (_, Rounding::NearestTargets) => &tree::ADAMW_NEAREST_TARGETS,
    };
    let check = Check::new(kernel.name, members);
    let exists = Storage { weights, rounding: x.rounding }.exists();
    check.that(exists, || "of pairs all is rounded to nearest, or nothing".into())?;
    check.that(x.low.is_none() || dtype == DType::Bf16, || format!("{dtype} has no pairs"))?;
    let tiles = x.gradient.rows;
    let written: Vec<&View> = x.state.into_iter().chain(x.low.into_iter().flatten()).collect();
    for image in written.iter().copied().chain([x.gradient]) {
        check.view(image, Element::Real(dtype), tiles, IMAGE_COLUMNS)?;
        check.that(image.ld == image.cols, || format!("{} is not one linear image", image.name))?;
    }
    check.view(x.counters, STATE, 1, 1)?;
    check.view(x.hyper, HYPER, 1, 1)?;
    check.view(x.norm, Element::U64, 1, x.norm.cols)?;
    check.that(x.norm.cols <= MOST_PARTIALS, || {
        format!("{} partial norms, more than {MOST_PARTIALS}", x.norm.cols)
    })?;
    check.view(x.ids, Element::Struct(size_of::<PackId>() as u32), tiles, IMAGE_COLUMNS / 8)?;
    let [p, m, v, target] = x.state;
    // Never followed where there is no low word.
    let null = MemberPtr { addr: 0, stride: 0 };
    let [low, target_low] = x.low.map_or([null; 2], |words| words.map(View::ptr));
    let tiles_each = tiles.div_ceil((TEAMS / members).max(1));
    let args = AdamArgs {
        p: p.ptr(),
        m: m.ptr(),
        v: v.ptr(),
        target: target.ptr(),
        g: x.gradient.ptr(),
        state: x.counters.ptr(),
        hyper: x.hyper.ptr(),
        norm: x.norm.ptr(),
        ids: x.ids.ptr(),
        low,
        target_low,
        packs: (tiles * IMAGE_COLUMNS / 8) as i32,
        partials: x.norm.cols as i32,
        tiles_each: tiles_each as i32,
        padding: 0,
    };
    let others = [x.gradient, x.counters, x.hyper, x.norm, x.ids];
    let reads: Vec<&View> = written.iter().copied().chain(others).collect();
    let writes: Vec<&View> = written.iter().copied().chain([x.counters]).collect();
    let launch = launch(kernel, dtype, (tiles.div_ceil(tiles_each), members), &args, &reads, &writes)?;
    let early = written.iter().copied().chain([x.ids]).map(View::region).collect();
    Ok(Launch { early, ..launch })
}
