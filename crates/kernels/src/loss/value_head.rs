//! Launchers of `value_head.cu`.

use crate::{Element, KernelError, View, launch, tree, view::Check};
use foxhunt_core::DType;
use foxhunt_device::{Launch, MemberPtr};

const ROWS_PER_TEAM: usize = 16;
const MOST_BRANCHES: usize = 4;
const MOST_ACTIONS: usize = 16;
const MOST_ATOMS: usize = 64;

/// Branches, actions and support of a branching dueling C51 head.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadShape {
    /// Actions of each branch, one to four branches of up to 16.
    pub actions: Vec<usize>,
    /// Atoms of a distribution, 2 to 64.
    pub atoms: usize,
    /// Value of the first atom.
    pub v_min: f32,
    /// Value of the last atom.
    pub v_max: f32,
}

impl HeadShape {
    /// Distributions: V's, then one per action of each branch.
    pub fn units(&self) -> usize {
        1 + self.actions.iter().sum::<usize>()
    }

    /// Columns of one distribution in memory: whole packs.
    pub fn unit_ld(&self) -> usize {
        self.atoms.next_multiple_of(8)
    }

    /// Columns of all logits in memory.
    pub fn logit_columns(&self) -> usize {
        self.units() * self.unit_ld()
    }

    /// First unit and number of units of stream `stream` (0: V, 1 + d: branch d).
    pub fn stream_units(&self, stream: usize) -> (usize, usize) {
        match stream {
            0 => (0, 1),
            _ => (1 + self.actions[..stream - 1].iter().sum::<usize>(), self.actions[stream - 1]),
        }
    }

    pub(crate) fn check(&self, check: &Check) -> Result<(), KernelError> {
        check.that((1..=MOST_BRANCHES).contains(&self.actions.len()), || {
            format!("{} branches, not 1 to {MOST_BRANCHES}", self.actions.len())
        })?;
        check.that(self.actions.iter().all(|n| (1..=MOST_ACTIONS).contains(n)), || {
            format!("branches of {:?} actions, not 1 to {MOST_ACTIONS}", self.actions)
        })?;
        check.that((2..=MOST_ATOMS).contains(&self.atoms), || {
            format!("{} atoms, not 2 to {MOST_ATOMS}", self.atoms)
        })?;
        check.that(self.v_max > self.v_min, || format!("support from {} to {}", self.v_min, self.v_max))
    }

    fn args(&self) -> HeadArgsShape {
        let mut actions = [0; MOST_BRANCHES];
        for (a, n) in actions.iter_mut().zip(&self.actions) {
            *a = *n as i32;
        }
        let dz = (self.v_max - self.v_min) / (self.atoms - 1) as f32;
        HeadArgsShape {
            branches: self.actions.len() as i32,
            atoms: self.atoms as i32,
            unit_ld: self.unit_ld() as i32,
            units: self.units() as i32,
            actions,
            v_min: self.v_min,
            dz,
            inv_dz: 1.0 / dz,
            reserved: 0.0,
        }
    }

    /// Compile-time bounds of the GPU build.
    fn bound(&self, launch: &mut Launch, portable: bool) {
        let most = self.actions.iter().copied().max().unwrap_or(1);
        launch.defines.push(("HEAD_ACTIONS", most as u32));
        launch.defines.push(("HEAD_PACKS", (self.unit_ld() / 8) as u32));
        launch.defines.push(("HEAD_PORTABLE", portable.into()));
    }
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct HeadArgsShape {
    branches: i32,
    atoms: i32,
    unit_ld: i32,
    units: i32,
    actions: [i32; MOST_BRANCHES],
    v_min: f32,
    dz: f32,
    inv_dz: f32,
    reserved: f32,
}

/// What the learner sees of one sample: the mirror of `Outcome`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Outcome {
    /// n-step return in units of the scaled reward, 2^-20.
    pub return_q20: i32,
    /// gamma^m, 2^-31; 0 where the window ends in termination.
    pub discount_q31: u32,
    /// Which row of the replay it is.
    pub index: u32,
    /// m, the steps of the return.
    pub steps: u32,
}

/// Loss over a stretch of training: the mirror of `LossTotal`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct LossTotal {
    /// Sum over rows, 2^-32.
    pub loss_q32: u64,
    /// Rows summed.
    pub rows: u64,
    /// Rows whose loss was not finite.
    pub bad: u64,
    /// Of the rows summed, those whose target return lies outside the support for some branch: return and discounted Q
    /// of the target net, before clipping. A share of [`LossTotal::rows`] that tells whether the support fits.
    pub edge: u64,
}

/// Where the logits come from.
#[derive(Clone, Copy, Debug)]
pub enum HeadInput<'a> {
    /// Stream activations `[rows, streams * H]`, multiplied on chip.
    Activations {
        /// Activations.
        x: &'a View,
        /// Weights `[units * unit_ld, H]`.
        w: &'a View,
        /// Biases `[units, atoms]`, rows `unit_ld` apart.
        bias: &'a View,
    },
    /// Logits `[rows, units * unit_ld]`, V's and A's, before the dueling sum.
    Logits(&'a View),
}

impl HeadInput<'_> {
    fn check(&self, check: &Check, dtype: DType, shape: &HeadShape, rows: usize) -> Result<(), KernelError> {
        let real = Element::Real(dtype);
        match self {
            HeadInput::Logits(x) => check.view(x, real, rows, shape.logit_columns()),
            HeadInput::Activations { x, w, bias } => {
                let streams = 1 + shape.actions.len();
                check.view(w, real, shape.logit_columns(), w.cols)?;
                check.view(x, real, rows, streams * w.cols)?;
                check.view(bias, real, shape.units(), shape.atoms)?;
                check.that(bias.ld == shape.unit_ld(), || format!("{} has ld {}", bias.name, bias.ld))?;
                check.that(w.cols.is_multiple_of(32), || {
                    format!("streams of {} activations: a multiple of 32 is needed", w.cols)
                })
            }
        }
    }

    fn views(&self) -> Vec<&View> {
        match self {
            HeadInput::Logits(x) => vec![x],
            HeadInput::Activations { x, w, bias } => vec![x, w, bias],
        }
    }

    fn ptrs(&self) -> [MemberPtr; 3] {
        match self {
            HeadInput::Logits(x) => [x.ptr(); 3],
            HeadInput::Activations { x, w, bias } => [x.ptr(), w.ptr(), bias.ptr()],
        }
    }

    /// `(hidden, ld of x, ld of w)`.
    fn sizes(&self) -> (i32, i32, i32) {
        match self {
            HeadInput::Logits(x) => (0, x.ld as i32, 0),
            HeadInput::Activations { x, w, .. } => (w.cols as i32, x.ld as i32, w.ld as i32),
        }
    }
}

/// Buffers of the head's loss.
#[derive(Debug)]
pub struct HeadLoss<'a> {
    /// Online net: rows of s, then of s', 2B in all.
    pub online: HeadInput<'a>,
    /// Target net at s', B rows.
    pub target: HeadInput<'a>,
    /// Actions taken, `[B, D]` bytes.
    pub actions: &'a View,
    /// [`Outcome`] of each row, `[B, 1]`.
    pub outcome: &'a View,
    /// Gradient of the logits, `[B, units * unit_ld]`.
    pub d_logits: &'a View,
    /// Loss of each row, `[1, B]`.
    pub row_loss: &'a View,
    /// [`LossTotal`] per member, added to.
    pub total: &'a View,
    /// Whether branches share the mixture of their targets (rl.md 2), or keep one each.
    pub mixture: bool,
    /// Keeps the tensor cores out: for tests.
    pub portable: bool,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct HeadArgs {
    x_online: MemberPtr,
    x_target: MemberPtr,
    w_online: MemberPtr,
    b_online: MemberPtr,
    w_target: MemberPtr,
    b_target: MemberPtr,
    actions: MemberPtr,
    outcome: MemberPtr,
    d_logits: MemberPtr,
    row_loss: MemberPtr,
    total: MemberPtr,
    rows: i32,
    hidden: i32,
    ld_online: i32,
    ld_target: i32,
    ld_w: i32,
    ld_logits: i32,
    mixture: i32,
    ld_actions: i32,
    scale: f32,
    inv_branches: f32,
    head: HeadArgsShape,
}

/// Double-DQN C51 loss and the gradient of the logits.
///
/// # Errors
/// Buffers that don't fit.
pub fn head_loss(
    dtype: DType,
    members: usize,
    shape: &HeadShape,
    x: &HeadLoss<'_>,
) -> Result<Launch, KernelError> {
    let check = Check::new("value_head_loss", members);
    shape.check(&check)?;
    let (batch, branches) = (x.d_logits.rows, shape.actions.len());
    x.online.check(&check, dtype, shape, 2 * batch)?;
    x.target.check(&check, dtype, shape, batch)?;
    check.that(x.online.sizes() == x.target.sizes(), || "online and target nets differ in layout".into())?;
    check.view(x.actions, Element::U8, batch, branches)?;
    check.view(x.outcome, Element::Struct(size_of::<Outcome>() as u32), batch, 1)?;
    check.that(x.outcome.ld == 1, || format!("{} is not contiguous", x.outcome.name))?;
    check.view(x.d_logits, Element::Real(dtype), batch, shape.logit_columns())?;
    check.view(x.row_loss, Element::Real(dtype), 1, batch)?;
    check.view(x.total, Element::Struct(size_of::<LossTotal>() as u32), 1, 1)?;
    let (hidden, ld_x, ld_w) = x.online.sizes();
    let ([x_online, w_online, b_online], [x_target, w_target, b_target]) = (x.online.ptrs(), x.target.ptrs());
    let args = HeadArgs {
        x_online,
        x_target,
        w_online,
        b_online,
        w_target,
        b_target,
        actions: x.actions.ptr(),
        outcome: x.outcome.ptr(),
        d_logits: x.d_logits.ptr(),
        row_loss: x.row_loss.ptr(),
        total: x.total.ptr(),
        rows: batch as i32,
        hidden,
        ld_online: ld_x,
        ld_target: ld_x,
        ld_w,
        ld_logits: x.d_logits.ld as i32,
        mixture: x.mixture.into(),
        ld_actions: x.actions.ld as i32,
        scale: 1.0 / (batch * branches) as f32,
        inv_branches: 1.0 / branches as f32,
        head: shape.args(),
    };
    let kernel = match x.online {
        HeadInput::Activations { .. } => &tree::VALUE_HEAD_LOSS,
        HeadInput::Logits(_) => &tree::LOGITS_HEAD_LOSS,
    };
    let mut reads = x.online.views();
    reads.extend(x.target.views());
    reads.extend([x.actions, x.outcome, x.total]);
    let teams = batch.div_ceil(ROWS_PER_TEAM);
    let mut out = launch(kernel, dtype, (teams, members), &args, &reads, &[x.d_logits, x.row_loss, x.total])?;
    shape.bound(&mut out, x.portable);
    Ok(out)
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct ActArgs {
    x: MemberPtr,
    w: MemberPtr,
    bias: MemberPtr,
    q: MemberPtr,
    greedy: MemberPtr,
    rows: i32,
    hidden: i32,
    ld_x: i32,
    ld_w: i32,
    ld_q: i32,
    ld_greedy: i32,
    head: HeadArgsShape,
}

/// Q of every action, `[rows, sum of actions]`, and the greedy action of every branch, `[rows, D]` bytes.
///
/// # Errors
/// Buffers that don't fit.
pub fn head_act(
    dtype: DType,
    members: usize,
    shape: &HeadShape,
    input: HeadInput<'_>,
    (q, greedy): (&View, &View),
    gaps: bool,
) -> Result<Launch, KernelError> {
    let check = Check::new("value_head_act", members);
    shape.check(&check)?;
    let rows = q.rows;
    input.check(&check, dtype, shape, rows)?;
    check.view(q, Element::Real(dtype), rows, shape.units() - 1)?;
    check.view(greedy, Element::U8, rows, shape.actions.len())?;
    let ([x, w, bias], (hidden, ld_x, ld_w)) = (input.ptrs(), input.sizes());
    let args = ActArgs {
        x,
        w,
        bias,
        q: q.ptr(),
        greedy: greedy.ptr(),
        rows: rows as i32,
        hidden,
        ld_x,
        ld_w,
        ld_q: q.ld as i32,
        ld_greedy: greedy.ld as i32,
        head: shape.args(),
    };
    let kernel = match (input, gaps) {
        (HeadInput::Activations { .. }, false) => &tree::VALUE_HEAD_ACT,
        (HeadInput::Activations { .. }, true) => &tree::VALUE_HEAD_GAPS,
        (HeadInput::Logits(_), false) => &tree::LOGITS_HEAD_ACT,
        (HeadInput::Logits(_), true) => &tree::LOGITS_HEAD_GAPS,
    };
    let teams = rows.div_ceil(ROWS_PER_TEAM);
    let mut out = launch(kernel, dtype, (teams, members), &args, &input.views(), &[q, greedy])?;
    shape.bound(&mut out, false);
    Ok(out)
}
