use foxhunt_device::ARENA_ALIGN;
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
