//! Copies of 16 bytes to shared memory that their thread need not wait for (PTX ISA, "cp.async").

use crate::cluster::Cluster;
use std::ptr;

/// Bytes of one.
pub(crate) const PIECE_BYTES: u32 = 16;
/// Pieces that land by chance while threads wait for one another once.
const BY_CHANCE: usize = 4;

/// A piece on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Where it comes from; nothing for zeros.
    pub(crate) from: *const u8,
    /// Offset in the memory of its thread's block.
    pub(crate) to: u32,
    /// Which of its thread's groups it belongs to.
    pub(crate) group: usize,
}

impl Cluster {
    /// A piece asked for: some are there at once.
    pub(crate) fn ask_piece(&mut self, thread: usize, piece: Piece) -> Result<(), String> {
        let rank = self.rank(thread);
        if self.blocks[rank].at(piece.to, PIECE_BYTES).is_none() {
            return Err(format!("a copy to {:#x} of shared memory: beyond it, or not aligned", piece.to));
        }
        if !(piece.from as usize).is_multiple_of(PIECE_BYTES as usize) {
            return Err(format!("a copy from {:?}, which is not aligned to 16 bytes", piece.from));
        }
        self.threads[thread].pieces.push(piece);
        if self.random(4) == 0 {
            self.land_piece(thread, self.threads[thread].pieces.len() - 1);
        }
        Ok(())
    }

    fn land_piece(&mut self, thread: usize, i: usize) {
        let piece = self.threads[thread].pieces.swap_remove(i);
        let rank = self.rank(thread);
        let Some(to) = self.blocks[rank].at(piece.to, PIECE_BYTES) else { return };
        let bytes = PIECE_BYTES as usize;
        // SAFETY: the kernel copies from its buffers, whose guards its tests watch; `to` was checked.
        unsafe {
            if piece.from.is_null() {
                ptr::write_bytes(to, 0, bytes);
            } else {
                ptr::copy_nonoverlapping(piece.from, to, bytes);
            }
        }
    }

    pub(crate) fn land_some_pieces(&mut self) {
        for _ in 0..BY_CHANCE {
            let thread = self.random(self.threads.len());
            let count = self.threads[thread].pieces.len();
            if count > 0 {
                let i = self.random(count);
                self.land_piece(thread, i);
            }
        }
    }

    /// All of a thread's pieces but those of its last `left` groups.
    pub(crate) fn land_pieces(&mut self, thread: usize, left: usize) {
        let upto = self.threads[thread].piece_groups.saturating_sub(left);
        let mut i = 0;
        while i < self.threads[thread].pieces.len() {
            if self.threads[thread].pieces[i].group < upto {
                self.land_piece(thread, i);
            } else {
                i += 1;
            }
        }
    }
}
