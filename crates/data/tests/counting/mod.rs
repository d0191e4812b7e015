//! An allocator that knows how much a thread holds, and how much it held at most. Tests of one program run side by side, each
//! in a thread of its own.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

struct Counting;

thread_local! {
    // Below 0 where a thread frees what another has made.
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator as it came; counting touches no memory but the thread's own two numbers,
// which need neither allocation nor destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.get() + layout.size() as isize;
        NOW.set(now);
        PEAK.set(PEAK.get().max(now));
        // SAFETY: the layout is the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.set(NOW.get() - layout.size() as isize);
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `step` gives, and the most bytes that its thread held meanwhile beyond those before.
pub(crate) fn peak_of<T>(step: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.get();
    PEAK.set(before);
    let done = step();
    (done, usize::try_from(PEAK.get() - before).unwrap_or(0))
}
