//! Tensor copies: blocks of 64 rows of 64 BF16 between a matrix and shared memory, with the 128-byte swizzle.

use crate::block::Block;
use foxhunt_device::{TENSOR_MAP_BYTES, TensorMap};

/// Bytes of a block.
pub(crate) const BLOCK_BYTES: usize = 64 * 128;
const ROW_BYTES: usize = 128;

/// A matrix as the copy engine sees it: address, columns, rows, members, bytes from row to row and from member to member.
type Words = [u64; 6];

/// Writes a map into the arguments, in place of what a driver makes of it.
pub(crate) fn encode(map: &TensorMap, args: &mut [u8]) {
    let [cols, rows, members] = map.sizes;
    let [row, member] = map.strides;
    let words: Words = [map.addr, cols, rows, members, row, member];
    let slot = &mut args[map.at..map.at + TENSOR_MAP_BYTES];
    slot[..size_of::<Words>()].copy_from_slice(bytemuck::cast_slice(&words));
}

/// A copy on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    map: Words,
    column: i32,
    row: i32,
    member: i32,
    /// Offset in shared memory.
    pub(crate) at: u32,
    /// The block whose memory it is.
    pub(crate) rank: usize,
    pub(crate) kind: Kind,
}

/// Which way it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// To shared memory; the barrier that counts its bytes.
    Load { barrier: u32 },
    /// From shared memory; who asked for it, and as which of their groups of stores.
    Store { thread: usize, group: usize },
}

impl Copy {
    /// # Safety
    /// `map` points to a map that [`encode`] wrote.
    pub(crate) unsafe fn new(map: *const u64, corner: [i32; 3], at: u32, rank: usize, kind: Kind) -> Self {
        // SAFETY: the caller's promise.
        let map = unsafe { map.cast::<Words>().read() };
        let [column, row, member] = corner;
        Copy { map, column, row, member, at, rank, kind }
    }

    /// Address of 8 elements of the matrix, and how many of them are inside.
    fn element(&self, row: usize, piece: usize) -> Option<(usize, usize)> {
        let [addr, cols, rows, members, row_bytes, member_bytes] = self.map.map(|x| x as i64);
        let (r, c, m) = (
            i64::from(self.row) + row as i64,
            i64::from(self.column) + 8 * piece as i64,
            i64::from(self.member),
        );
        if !(0..rows).contains(&r) || !(0..cols).contains(&c) || !(0..members).contains(&m) {
            return None;
        }
        Some(((addr + m * member_bytes + r * row_bytes + 2 * c) as usize, (cols - c).min(8) as usize))
    }

    /// Does it. What lies beyond the matrix is read as 0 and not written.
    ///
    /// # Errors
    /// Memory that a block doesn't have, or that was not published.
    pub(crate) fn carry_out(&self, block: &mut Block) -> Result<(), String> {
        let at = self.at as usize;
        if !at.is_multiple_of(1024) || at + BLOCK_BYTES > block.memory().len() {
            return Err(format!("a tensor copy at {at:#x} of shared memory: not a block"));
        }
        if matches!(self.kind, Kind::Store { .. })
            && let Some(writer) = block.unpublished(at, BLOCK_BYTES)
        {
            return Err(format!(
                "a tensor copy reads {at:#x}, which thread {writer} wrote and did not publish"
            ));
        }
        for row in 0..64 {
            for piece in 0..8 {
                let here = at + ROW_BYTES * row + 16 * (piece ^ (row % 8));
                let there = self.element(row, piece);
                let shared = &mut block.memory_mut()[here..here + 16];
                match self.kind {
                    Kind::Load { .. } => {
                        shared.fill(0);
                        if let Some((addr, n)) = there {
                            // SAFETY: inside the matrix, whose buffer the launcher checked.
                            let from = unsafe { std::slice::from_raw_parts(addr as *const u8, 2 * n) };
                            shared[..2 * n].copy_from_slice(from);
                        }
                    }
                    Kind::Store { .. } => {
                        if let Some((addr, n)) = there {
                            // SAFETY: as above; blocks of one launch write disjoint parts.
                            let to = unsafe { std::slice::from_raw_parts_mut(addr as *mut u8, 2 * n) };
                            to.copy_from_slice(&shared[..2 * n]);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
