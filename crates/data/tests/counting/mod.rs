//! An allocator that knows how much is held, and how much was at most.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// One test measures at a time.
static MEASURING: Mutex<()> = Mutex::new(());

// SAFETY: every call goes to the system's allocator as it came; counting touches no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the layout is the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `step` gives, and the most bytes that were held meanwhile beyond those before.
pub(crate) fn peak_of<T>(step: impl FnOnce() -> T) -> (T, usize) {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let done = step();
    (done, PEAK.load(Relaxed).saturating_sub(before))
}
