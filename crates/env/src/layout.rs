use bytemuck::{AnyBitPattern, NoUninit};
use foxhunt_device::{ARENA_ALIGN, Arena, Device, DeviceError};
use foxhunt_kernels::{Element, View};

/// Places buffers one after another in an arena.
#[derive(Default)]
pub(crate) struct Layout {
    bytes: usize,
    views: Vec<View>,
}

impl Layout {
    /// A buffer of `members` matrices `[rows, cols]`; real rows are padded to whole packs of eight.
    pub(crate) fn add(&mut self, name: &str, element: Element, members: usize, rows: usize, cols: usize) {
        let ld = if matches!(element, Element::Real(_)) { cols.next_multiple_of(8) } else { cols };
        self.views.push(View {
            name: name.into(),
            addr: self.bytes as u64,
            element,
            rows,
            cols,
            ld,
            members,
            member_stride: if members == 1 { 0 } else { rows * ld },
        });
        self.bytes += (members * rows * ld * element.bytes()).next_multiple_of(ARENA_ALIGN);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The buffers of an arena that begins at `addr`.
    pub(crate) fn place(self, addr: u64) -> Vec<View> {
        self.views.into_iter().map(|v| View { addr: addr + v.addr, ..v }).collect()
    }
}

/// Buffers of one member in an arena of their own: for whoever runs a kernel of the market beside the environments.
pub struct OwnBuffers<const N: usize> {
    arena: Arena,
    views: [View; N],
}

impl<const N: usize> OwnBuffers<N> {
    /// Buffers of these elements, rows and columns, without padding; `name` is for messages.
    ///
    /// # Errors
    /// The device's.
    pub fn new(
        device: &Device,
        name: &str,
        shapes: [(Element, usize, usize); N],
    ) -> Result<Self, DeviceError> {
        let mut bytes = 0;
        let views = shapes.map(|(element, rows, cols)| {
            let addr = bytes as u64;
            bytes += (element.bytes() * rows * cols).next_multiple_of(ARENA_ALIGN);
            let name = format!("{name} at {addr}");
            View { name, addr, element, rows, cols, ld: cols, members: 1, member_stride: 0 }
        });
        let arena = device.allocate(bytes)?;
        let base = arena.addr();
        Ok(OwnBuffers { views: views.map(|v| View { addr: base + v.addr, ..v }), arena })
    }

    /// All of them, in order.
    pub fn views(&self) -> &[View; N] {
        &self.views
    }

    /// Writes the first elements of buffer `i`.
    ///
    /// # Errors
    /// The device's.
    pub fn write<T: NoUninit>(&self, i: usize, values: &[T]) -> Result<(), DeviceError> {
        self.arena.write(self.at(i), values)
    }

    /// Reads the first `count` elements of buffer `i`.
    ///
    /// # Errors
    /// The device's.
    pub fn read<T: AnyBitPattern + NoUninit>(&self, i: usize, count: usize) -> Result<Vec<T>, DeviceError> {
        self.arena.read(self.at(i), count)
    }

    fn at(&self, i: usize) -> usize {
        (self.views[i].addr - self.arena.addr()) as usize
    }
}
