//! Tensors and operations, in the order in which they run.

mod autodiff;
mod display;
mod error;
mod layout;
mod memory;
mod net;
mod rules;
mod runtime;

pub use autodiff::Gradients;
pub use error::PlanError;
pub use memory::{Memory, MemoryBytes, MemoryPurpose};
pub use net::{Init, LowWords, Net, NetParam, ParamPart, ParamSpec};
pub use rules::PlanFault;
pub use runtime::{Lowering, Options, Runtime};

use crate::op::{Foreign, Operation};
use foxhunt_core::{DType, Storage};
use foxhunt_device::{Arena, Command};
use foxhunt_kernels::{Element, View};
use std::sync::Arc;

/// A tensor of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tensor(pub(crate) u32);

/// Where a tensor's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Its own stretch of the arena.
    Own,
    /// Inside another tensor, from this element of each member's part on.
    Inside { of: Tensor, offset: usize },
    /// In another owner's arena: its number among the plan's external buffers.
    External(usize),
}

/// What a plan knows of a tensor.
#[derive(Clone, Debug)]
pub struct TensorInfo {
    /// Unique in the plan.
    pub name: String,
    /// What an element is.
    pub element: Element,
    /// Rows per member.
    pub rows: usize,
    /// Elements of a row that mean something.
    pub cols: usize,
    /// Elements from one row to the next: `cols` padded to what tensor cores and 16-byte vectors want.
    pub ld: usize,
    /// Whether all members share it.
    pub shared: bool,
    /// What its memory is for.
    pub purpose: MemoryPurpose,
    pub(crate) place: Place,
    /// Whether a parameter's gradient flows through it.
    pub(crate) differentiable: bool,
}

pub(crate) struct Step {
    pub(crate) program: usize,
    pub(crate) op: Arc<dyn Operation>,
}

/// A network or training step as named tensors and operations. See the crate's documentation.
pub struct Plan {
    dtype: DType,
    members: usize,
    tensors: Vec<TensorInfo>,
    steps: Vec<Step>,
    programs: Vec<String>,
    current: usize,
    nets: Vec<Net>,
    externals: Vec<(View, Arc<Arena>)>,
    storage: Storage,
}

/// The distance between rows of `cols` elements: whole packs of eight (16 bytes of BF16), and 64 beyond 32 columns,
/// where a matrix product with another leading dimension falls to slow kernels.
pub(crate) fn leading_dimension(element: Element, cols: usize) -> usize {
    match element {
        Element::Real(_) if cols > 32 => cols.next_multiple_of(64),
        Element::Real(_) => cols.next_multiple_of(8),
        _ => cols,
    }
}

impl Plan {
    /// An empty plan for `members` population members. Operations go to a program called `main` until
    /// [`Plan::program`] starts another.
    pub fn new(dtype: DType, members: usize) -> Self {
        Plan {
            dtype,
            members: members.max(1),
            tensors: Vec::new(),
            steps: Vec::new(),
            programs: vec!["main".into()],
            current: 0,
            nets: Vec::new(),
            externals: Vec::new(),
            storage: Storage::default(),
        }
    }

    /// How nets that are laid out from here on store their weights, and how their optimisers round. In F32 it changes
    /// nothing.
    pub fn set_storage(&mut self, storage: Storage) {
        self.storage = storage;
    }

    /// What [`Plan::set_storage`] said.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// Storage type of real tensors.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Population members.
    pub fn members(&self) -> usize {
        self.members
    }

    /// The element of real tensors.
    pub fn real(&self) -> Element {
        Element::Real(self.dtype)
    }

    /// Starts, or returns to, the program that further operations go to.
    pub fn program(&mut self, name: &str) {
        self.current = self.programs.iter().position(|p| p == name).unwrap_or_else(|| {
            self.programs.push(name.to_owned());
            self.programs.len() - 1
        });
    }

    /// A buffer that the host fills, or that an operation writes: `[rows, cols]` per member. Its memory is for activations
    /// where it is real, else for integers, until [`Plan::set_purpose`] says otherwise; so with all that follow.
    pub fn buffer(&mut self, name: &str, element: Element, rows: usize, cols: usize) -> Tensor {
        self.add(name, element, rows, cols, false)
    }

    /// A real buffer.
    pub fn real_buffer(&mut self, name: &str, rows: usize, cols: usize) -> Tensor {
        self.add(name, self.real(), rows, cols, false)
    }

    /// A buffer that all members share, and none writes: a data table, and so is its purpose.
    pub fn table(&mut self, name: &str, element: Element, rows: usize, cols: usize) -> Tensor {
        let t = self.add(name, element, rows, cols, true);
        self.with_purpose(t, MemoryPurpose::Data)
    }

    /// Says what a tensor's memory is for.
    pub fn set_purpose(&mut self, t: Tensor, purpose: MemoryPurpose) {
        self.tensors[t.0 as usize].purpose = purpose;
    }

    /// As [`Plan::set_purpose`]; returns the tensor.
    pub(crate) fn with_purpose(&mut self, t: Tensor, purpose: MemoryPurpose) -> Tensor {
        self.set_purpose(t, purpose);
        t
    }

    /// A buffer that somebody else laid out in `arena`: the environments' observations, say.
    pub fn external(&mut self, view: &View, arena: &Arc<Arena>) -> Tensor {
        self.externals.push((view.clone(), arena.clone()));
        self.push(TensorInfo {
            name: view.name.clone(),
            element: view.element,
            rows: view.rows,
            cols: view.cols,
            ld: view.ld,
            shared: view.member_stride == 0 && self.members > 1,
            // Its owner counts it.
            purpose: MemoryPurpose::Activations,
            place: Place::External(self.externals.len() - 1),
            differentiable: false,
        })
    }

    /// Runs commands that somebody else makes, between those of the plan: `make` sees where its tensors lie. `reads`
    /// and `writes` are the tensors of this plan that they touch.
    pub fn run_foreign(
        &mut self,
        name: &'static str,
        reads: &[Tensor],
        writes: &[Tensor],
        make: impl Fn(&Lowering) -> Result<Vec<Command>, PlanError> + 'static,
    ) {
        self.run(Foreign { name, reads: reads.to_vec(), writes: writes.to_vec(), make: Box::new(make) });
    }

    fn add(&mut self, name: &str, element: Element, rows: usize, cols: usize, shared: bool) -> Tensor {
        let ld = leading_dimension(element, cols);
        self.push(TensorInfo {
            name: name.to_owned(),
            element,
            rows,
            cols,
            ld,
            shared,
            purpose: match element {
                Element::Real(_) => MemoryPurpose::Activations,
                _ => MemoryPurpose::Integers,
            },
            place: Place::Own,
            differentiable: false,
        })
    }

    /// Adds a tensor; a name that is taken gets a number, so that names stay unique.
    pub(crate) fn push(&mut self, mut info: TensorInfo) -> Tensor {
        if self.find(&info.name).is_some() {
            let base = info.name.clone();
            let mut n = 2;
            while self.find(&info.name).is_some() {
                info.name = format!("{base}.{n}");
                n += 1;
            }
        }
        self.tensors.push(info);
        Tensor((self.tensors.len() - 1) as u32)
    }

    /// A result of an operation: as `buffer`, and differentiable if any of `sources` is.
    pub(crate) fn result(&mut self, name: &str, rows: usize, cols: usize, sources: &[Tensor]) -> Tensor {
        let t = self.real_buffer(name, rows, cols);
        let differentiable = sources.iter().any(|s| self.info(*s).differentiable);
        self.tensors[t.0 as usize].differentiable = differentiable;
        t
    }

    /// A tensor that lives in another's memory, from element `offset` of each member's part on.
    pub(crate) fn inside(&mut self, mut info: TensorInfo, of: Tensor, offset: usize) -> Tensor {
        info.place = Place::Inside { of, offset };
        info.shared = self.info(of).shared;
        self.push(info)
    }

    /// Moves a tensor of its own into `of`.
    pub(crate) fn place_inside(&mut self, t: Tensor, of: Tensor, offset: usize) {
        self.tensors[t.0 as usize].place = Place::Inside { of, offset };
    }

    /// Rows `first..first + rows` of a tensor, in its memory.
    pub fn rows(&mut self, name: &str, of: Tensor, first: usize, rows: usize) -> Tensor {
        let info = TensorInfo { name: name.to_owned(), rows, ..self.info(of).clone() };
        let offset = first * info.ld;
        self.inside(info, of, offset)
    }

    /// The tensor called `name`.
    pub fn find(&self, name: &str) -> Option<Tensor> {
        self.tensors.iter().position(|t| t.name == name).map(|i| Tensor(i as u32))
    }

    /// What the plan knows of a tensor.
    pub fn info(&self, t: Tensor) -> &TensorInfo {
        &self.tensors[t.0 as usize]
    }

    /// Gives a tensor of its own another leading dimension.
    pub(crate) fn set_ld(&mut self, t: Tensor, ld: usize) {
        self.tensors[t.0 as usize].ld = ld;
    }

    /// Appends an operation to the current program.
    pub(crate) fn run(&mut self, op: impl Operation + 'static) {
        self.steps.push(Step { program: self.current, op: Arc::new(op) });
    }

    /// Every tensor.
    pub fn tensors(&self) -> impl Iterator<Item = Tensor> + '_ {
        (0..self.tensors.len()).map(|i| Tensor(i as u32))
    }

    /// The nets of the plan.
    pub fn nets(&self) -> &[Net] {
        &self.nets
    }
}
