//! What the threads of a block share: memory, and barriers.

use std::collections::HashMap;

/// Bytes of which it is known together who wrote them.
const WORD: usize = 4;

/// A barrier in shared memory (PTX ISA, "mbarrier").
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter {
    expected: u32,
    pending: u32,
    /// Bytes on their way.
    bytes: i64,
    /// Phases completed.
    pub(crate) phase: u32,
}

impl Counter {
    pub(crate) fn new(arrivals: u32) -> Self {
        Counter { expected: arrivals, pending: arrivals, bytes: 0, phase: 0 }
    }

    /// One arrival, which expects `bytes`. None where all had arrived.
    pub(crate) fn arrive(&mut self, bytes: u32) -> Option<()> {
        self.pending = self.pending.checked_sub(1)?;
        self.bytes += i64::from(bytes);
        self.settle();
        Some(())
    }

    pub(crate) fn bytes_came(&mut self, bytes: u32) {
        self.bytes -= i64::from(bytes);
        self.settle();
    }

    fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.phase += 1;
        }
    }
}

/// A barrier that threads meet at, `bar.sync`: arrivals so far, meetings so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meeting {
    pub(crate) arrived: u32,
    pub(crate) met: u32,
}

impl Meeting {
    /// One arrival of `of`; which meeting it is for.
    pub(crate) fn arrive(&mut self, of: u32) -> u32 {
        let meeting = self.met;
        self.arrived += 1;
        if self.arrived == of {
            *self = Meeting { arrived: 0, met: meeting + 1 };
        }
        meeting
    }
}

/// Aligned as the widest access asks.
#[repr(C, align(1024))]
#[derive(Clone, Copy)]
struct Page([u8; 1024]);

/// A block's shared memory and barriers.
pub(crate) struct Block {
    pages: Vec<Page>,
    /// Per word: 1 + the thread that wrote it and has not published it, or 0.
    writer: Vec<u16>,
    pub(crate) counters: HashMap<u32, Counter>,
    pub(crate) meetings: HashMap<u32, Meeting>,
}

impl Block {
    /// Memory of so many bytes, all NaN.
    pub(crate) fn new(bytes: usize) -> Self {
        let pages = vec![Page([0xff; 1024]); bytes.div_ceil(1024)];
        let writer = vec![0; pages.len() * (1024 / WORD)];
        Block { pages, writer, counters: HashMap::new(), meetings: HashMap::new() }
    }

    fn bytes(&self) -> usize {
        self.pages.len() * 1024
    }

    /// Where `bytes` at `at` lie; None where they don't, or are not aligned.
    pub(crate) fn at(&mut self, at: u32, bytes: u32) -> Option<*mut u8> {
        let (at, bytes) = (at as usize, bytes as usize);
        // SAFETY: within the pages.
        (at % bytes == 0 && at + bytes <= self.bytes())
            .then(|| unsafe { self.pages.as_mut_ptr().cast::<u8>().add(at) })
    }

    /// All of it.
    pub(crate) fn memory(&self) -> &[u8] {
        // SAFETY: pages are bytes, one after another.
        unsafe { std::slice::from_raw_parts(self.pages.as_ptr().cast(), self.bytes()) }
    }

    /// All of it, for the copy engine to write.
    pub(crate) fn memory_mut(&mut self) -> &mut [u8] {
        let bytes = self.bytes();
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.pages.as_mut_ptr().cast(), bytes) }
    }

    pub(crate) fn wrote(&mut self, at: u32, thread: u32) {
        self.writer[at as usize / WORD] = thread as u16 + 1;
    }

    pub(crate) fn published(&mut self, at: u32, thread: u32) {
        let writer = &mut self.writer[at as usize / WORD];
        if *writer == thread as u16 + 1 {
            *writer = 0;
        }
    }

    /// The thread that wrote one of these bytes and has not published it.
    pub(crate) fn unpublished(&self, at: usize, bytes: usize) -> Option<u32> {
        let words = &self.writer[at / WORD..(at + bytes).div_ceil(WORD)];
        words.iter().find(|w| **w != 0).map(|w| u32::from(*w) - 1)
    }
}
