use crate::KernelError;
use foxhunt_core::DType;
use foxhunt_device::{MemberPtr, Region};

/// Environments (accounts, samples) that one team works on where each is one thread's work.
pub(crate) const TEAM_ENVS: usize = 32;

/// What one element of a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// The build's storage type: BF16 or F32.
    Real(DType),
    /// Bytes: flags, actions, masks.
    U8,
    /// Prices, lots, actions, fixed-point rewards.
    I32,
    /// Indices, priorities.
    U32,
    /// Money.
    I64,
    /// Counters, fixed-point sums.
    U64,
    /// A struct of the kernel tree, by its size in bytes.
    Struct(u32),
}

impl Element {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Element::Real(dtype) => dtype.bytes(),
            Element::U8 => 1,
            Element::I32 | Element::U32 => 4,
            Element::I64 | Element::U64 => 8,
            Element::Struct(bytes) => bytes as usize,
        }
    }

    /// The struct that `T` mirrors.
    pub const fn of<T: bytemuck::Pod>() -> Self {
        Element::Struct(size_of::<T>() as u32)
    }
}

/// A buffer as a launcher sees it: rows of `cols` elements, `ld` apart, one such matrix per member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Name in the plan, for messages.
    pub name: String,
    /// Device address of member 0's first element.
    pub addr: u64,
    /// What an element is.
    pub element: Element,
    /// Rows per member.
    pub rows: usize,
    /// Elements of a row that mean something.
    pub cols: usize,
    /// Elements from one row to the next; what lies between `cols` and `ld` is padding.
    pub ld: usize,
    /// Members; 1 where all share the buffer.
    pub members: usize,
    /// Elements from one member to the next; 0 where all share the buffer.
    pub member_stride: usize,
}

impl View {
    /// The address as kernels take it.
    pub fn ptr(&self) -> MemberPtr {
        MemberPtr { addr: self.addr, stride: self.member_stride as i64 }
    }

    /// The whole stretch of memory, all members.
    pub fn region(&self) -> Region {
        let per_member = self.rows * self.ld;
        let elements = self.member_stride * (self.members - 1) + per_member;
        Region { name: self.name.clone(), addr: self.addr, bytes: elements * self.element.bytes() }
    }

    /// What lies from this view's first element to the end of its last row: all that a matrix product may touch.
    pub fn region_from_here(&self) -> Region {
        let last = self.member_stride * (self.members - 1) + (self.rows - 1) * self.ld + self.cols;
        Region { name: self.name.clone(), addr: self.addr, bytes: last * self.element.bytes() }
    }

    /// Rows `first..first + rows` of every member.
    pub fn slice_rows(&self, first: usize, rows: usize) -> View {
        debug_assert!(first + rows <= self.rows);
        View { addr: self.addr + (first * self.ld * self.element.bytes()) as u64, rows, ..self.clone() }
    }

    /// Columns `first..first + cols` of every row. `first` must keep 16-byte packs whole: a multiple of 8.
    pub fn slice_cols(&self, first: usize, cols: usize) -> View {
        debug_assert!(first + cols <= self.ld && first.is_multiple_of(8));
        View { addr: self.addr + (first * self.element.bytes()) as u64, cols, ..self.clone() }
    }
}

/// Checks of one launcher, with its kernel's name in every message.
pub(crate) struct Check {
    kernel: &'static str,
    members: usize,
}

impl Check {
    pub(crate) fn new(kernel: &'static str, members: usize) -> Self {
        Check { kernel, members }
    }

    pub(crate) fn fail<T>(&self, what: impl Into<String>) -> Result<T, KernelError> {
        Err(KernelError { kernel: self.kernel, what: what.into() })
    }

    pub(crate) fn that(&self, holds: bool, what: impl FnOnce() -> String) -> Result<(), KernelError> {
        if holds { Ok(()) } else { self.fail(what()) }
    }

    /// `view` has this element, shape and population, and 16-byte rows where elements are real.
    pub(crate) fn view(
        &self,
        view: &View,
        element: Element,
        rows: usize,
        cols: usize,
    ) -> Result<(), KernelError> {
        self.that(view.element == element, || {
            format!("{} holds {:?}, not {element:?}", view.name, view.element)
        })?;
        self.that(view.rows == rows && view.cols == cols, || {
            format!("{} is {}x{}, not {rows}x{cols}", view.name, view.rows, view.cols)
        })?;
        self.that(view.ld >= view.cols, || format!("{}: ld {} < {}", view.name, view.ld, view.cols))?;
        self.that(view.members == self.members || view.member_stride == 0, || {
            format!("{} has {} members, not {}", view.name, view.members, self.members)
        })?;
        if let Element::Real(_) = element {
            self.that(view.ld.is_multiple_of(8) && view.member_stride.is_multiple_of(8), || {
                format!("{}: rows of {} are not whole packs of eight", view.name, view.ld)
            })?;
            self.that(view.addr.is_multiple_of(16), || format!("{} is not aligned to 16 bytes", view.name))?;
        }
        Ok(())
    }

    /// Rows follow one another without padding, as kernels that index by element need.
    pub(crate) fn dense(&self, view: &View) -> Result<(), KernelError> {
        self.that(view.ld == view.cols, || format!("{} has padded rows", view.name))
    }

    /// Every member has its own part: a kernel that writes it would otherwise race with itself.
    pub(crate) fn owned(&self, view: &View) -> Result<(), KernelError> {
        self.that(self.members == 1 || view.member_stride >= view.rows * view.ld, || {
            format!("{} is written by {} members but shared", view.name, self.members)
        })
    }
}
