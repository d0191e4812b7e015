//! Products of a warpgroup: `d[64 x N] (+)= a[64 x 16] b[16 x N]`, queued by its 128 threads and done when they wait.

use crate::block::Block;
use std::collections::VecDeque;

const THREADS: usize = 128;
const K: usize = 16;

/// What all threads must agree on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// N.
    pub(crate) columns: usize,
    /// Descriptor of a where it is in shared memory.
    pub(crate) a: Option<u64>,
    /// Descriptor of b.
    pub(crate) b: u64,
    /// Whether d is added to.
    pub(crate) add: bool,
    /// Whether the rows of b in memory are K.
    pub(crate) across: bool,
}

struct Product {
    shape: Shape,
    sums: [*mut f32; THREADS],
    a: [[u32; 4]; THREADS],
    given: usize,
}

/// The products of one warpgroup that are not done yet.
#[derive(Default)]
pub(crate) struct Products {
    done: usize,
    queue: VecDeque<Product>,
}

/// An operand in shared memory, by its descriptor (PTX ISA, "Matrix descriptor").
struct Operand {
    start: usize,
    leading: usize,
    stride: usize,
    swizzled: bool,
}

impl Operand {
    fn of(descriptor: u64) -> Self {
        let field = |shift: u32| ((descriptor >> shift & 0x3fff) << 4) as usize;
        Operand { start: field(0), leading: field(16), stride: field(32), swizzled: descriptor >> 62 == 1 }
    }

    /// Offset of element `k` of line `n` (a row of a, a column of b).
    fn at(&self, n: usize, k: usize, across: bool) -> usize {
        let plain = match (self.swizzled, across) {
            (true, false) => self.start + n / 8 * self.stride + n % 8 * 128 + 2 * k,
            (true, true) => {
                self.start + n / 64 * self.leading + k / 8 * self.stride + k % 8 * 128 + n % 64 * 2
            }
            // Cores of 8 lines of 16 bytes.
            (false, _) => self.start + n / 8 * self.stride + k / 8 * self.leading + n % 8 * 16 + k % 8 * 2,
        };
        if self.swizzled { plain ^ (plain >> 7 & 7) << 4 } else { plain }
    }

    /// `lines` lines of 16 elements.
    fn read(&self, block: &Block, lines: usize, across: bool) -> Result<Vec<[f32; K]>, String> {
        let memory = block.memory();
        (0..lines)
            .map(|n| {
                let mut line = [0.0; K];
                for (k, x) in line.iter_mut().enumerate() {
                    let at = self.at(n, k, across);
                    let Some(bytes) = memory.get(at..at + 2) else {
                        return Err(format!("a product reads {at:#x}, beyond shared memory"));
                    };
                    if let Some(writer) = block.unpublished(at, 2) {
                        return Err(format!(
                            "a product reads {at:#x}, which thread {writer} wrote and did not publish"
                        ));
                    }
                    *x = widened(u16::from_le_bytes([bytes[0], bytes[1]]));
                }
                Ok(line)
            })
            .collect()
    }
}

fn widened(x: u16) -> f32 {
    f32::from_bits(u32::from(x) << 16)
}

impl Products {
    /// Thread `thread` of the warpgroup asks for its `index`-th product.
    ///
    /// # Errors
    /// Another than the others asked for.
    pub(crate) fn ask(
        &mut self,
        index: usize,
        thread: usize,
        shape: Shape,
        sums: *mut f32,
        a: [u32; 4],
    ) -> Result<(), String> {
        let at = index - self.done;
        if at == self.queue.len() {
            let sums = [std::ptr::null_mut(); THREADS];
            self.queue.push_back(Product { shape, sums, a: [[0; 4]; THREADS], given: 0 });
        }
        let p = &mut self.queue[at];
        if p.shape != shape {
            return Err(format!(
                "threads of a warpgroup ask for different products: {:?} and {shape:?}",
                p.shape
            ));
        }
        p.sums[thread] = sums;
        p.a[thread] = a;
        p.given += 1;
        Ok(())
    }

    /// Whether all products before the `upto`-th are done: does those that all threads have asked for.
    pub(crate) fn settle(&mut self, block: &Block, upto: usize) -> Result<bool, String> {
        while self.done < upto && self.queue.front().is_some_and(|p| p.given == THREADS) {
            if let Some(p) = self.queue.pop_front() {
                p.carry_out(block)?;
            }
            self.done += 1;
        }
        Ok(self.done >= upto)
    }

    /// Whether some were asked for and never done.
    pub(crate) fn pending(&self) -> bool {
        !self.queue.is_empty()
    }
}

impl Product {
    fn carry_out(&self, block: &Block) -> Result<(), String> {
        let s = &self.shape;
        let b = Operand::of(s.b).read(block, s.columns, s.across)?;
        let a = match s.a {
            Some(descriptor) => Operand::of(descriptor).read(block, 64, false)?,
            None => self.registers(),
        };
        for (t, sums) in self.sums.iter().enumerate() {
            let (row, column) = (16 * (t / 32) + t % 32 / 4, 2 * (t % 4));
            for i in 0..s.columns / 8 {
                for j in 0..4 {
                    let (a, b) = (&a[row + 8 * (j / 2)], &b[8 * i + column + j % 2]);
                    // SAFETY: N / 2 sums of a thread that waits for them, so that they live.
                    let sum = unsafe { &mut *sums.add(4 * i + j) };
                    let dot: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    *sum = if s.add { *sum + dot } else { dot };
                }
            }
        }
        Ok(())
    }

    /// a from the registers of all threads.
    fn registers(&self) -> Vec<[f32; K]> {
        let mut rows = vec![[0.0; K]; 64];
        for (t, words) in self.a.iter().enumerate() {
            let (row, k) = (16 * (t / 32) + t % 32 / 4, 2 * (t % 4));
            for (j, word) in words.iter().enumerate() {
                let (row, k) = (row + 8 * (j % 2), k + 8 * (j / 2));
                rows[row][k] = widened(*word as u16);
                rows[row][k + 1] = widened((*word >> 16) as u16);
            }
        }
        rows
    }
}
