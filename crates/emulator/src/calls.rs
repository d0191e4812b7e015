//! What `cu/hopper.cuh` calls, from the coroutine of a thread.

use crate::{
    block::{Counter, Meeting},
    cluster::{Cluster, Wait},
    copy::{Copy, Kind},
    piece::Piece,
    product::Shape,
};
use corosensei::{Coroutine, Yielder, stack::DefaultStack};
use std::{
    cell::{Cell, RefCell},
    ffi::c_void,
    ptr,
};

/// Stack of a thread: a kernel's arrays, which are registers on a GPU, and its callees.
const STACK_BYTES: usize = 256 << 10;
/// Ranks of blocks stand above these bits of an address.
const RANK_SHIFT: u32 = 24;

pub(crate) type Fiber = Coroutine<(), (), ()>;

/// The thread that runs on this thread of the host.
#[derive(Clone, Copy)]
struct Now {
    cluster: *mut Cluster,
    thread: usize,
}

thread_local! {
    static NOW: Cell<Now> = const { Cell::new(Now { cluster: ptr::null_mut(), thread: 0 }) };
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
    static YIELDER: Cell<*const Yielder<(), ()>> = const { Cell::new(ptr::null()) };
}

/// A coroutine that runs the kernel as one thread.
pub(crate) fn fiber(entry: unsafe extern "C" fn(*const c_void), args: usize) -> Fiber {
    #[allow(clippy::expect_used, reason = "a test tool without memory can only stop")]
    let stack = STACKS.with_borrow_mut(Vec::pop).unwrap_or_else(|| {
        DefaultStack::new(STACK_BYTES).expect("memory for the stack of an emulated thread")
    });
    Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
        YIELDER.set(yielder);
        // SAFETY: the arguments were checked by the launcher and live as long as the launch.
        unsafe { entry(args as *const c_void) };
    })
}

/// Keeps the stack of a coroutine that has ended for the next one: the system takes longer to make one than a thread to run.
pub(crate) fn retire(fiber: Fiber) {
    STACKS.with_borrow_mut(|stacks| stacks.push(fiber.into_stack()));
}

/// Lets a thread run until it waits for another.
pub(crate) fn resume(cluster: &mut Cluster, thread: usize, fiber: &mut Fiber) {
    NOW.set(Now { cluster, thread });
    fiber.resume(());
    NOW.set(Now { cluster: ptr::null_mut(), thread: 0 });
}

/// Work on the cluster on behalf of the thread that runs. A fault ends the thread, and with it the launch.
fn act<T>(work: impl FnOnce(&mut Cluster, usize) -> Result<T, String>) -> T {
    let Now { cluster, thread } = NOW.get();
    // SAFETY: `resume` lent the cluster for as long as the coroutine runs, and nothing else uses it meanwhile.
    let cluster = unsafe { &mut *cluster };
    match work(cluster, thread) {
        Ok(x) => x,
        Err(what) => {
            cluster.fault.get_or_insert(what);
            cluster.threads[thread].wait = Wait::End;
            loop {
                suspend();
            }
        }
    }
}

fn suspend() {
    let yielder = YIELDER.get();
    // SAFETY: the yielder of the coroutine that runs, which lives on its stack.
    unsafe { (*yielder).suspend(()) };
    YIELDER.set(yielder);
}

/// Waits, if `wait` says so: what comes before it is done.
fn wait(work: impl FnOnce(&mut Cluster, usize) -> Result<Wait, String>) {
    act(|c, t| {
        c.threads[t].wait = work(c, t)?;
        Ok(())
    });
    suspend();
}

/// Rank and offset of an address.
fn place(c: &Cluster, thread: usize, at: u32) -> Result<(usize, u32), String> {
    let (rank, offset) = (at >> RANK_SHIFT, at & ((1 << RANK_SHIFT) - 1));
    let rank = if rank == 0 { c.rank(thread) } else { rank as usize - 1 };
    if rank < c.blocks.len() { Ok((rank, offset)) } else { Err(format!("no block of rank {rank}")) }
}

#[unsafe(no_mangle)]
extern "C" fn emulated_thread() -> u32 {
    act(|c, t| Ok(c.local(t) as u32))
}

#[unsafe(no_mangle)]
extern "C" fn emulated_block(axis: u32) -> u32 {
    act(|c, t| Ok(if axis == 0 { c.place.first_block + c.rank(t) as u32 } else { c.place.member }))
}

#[unsafe(no_mangle)]
extern "C" fn emulated_rank() -> u32 {
    act(|c, t| Ok(c.rank(t) as u32))
}

#[unsafe(no_mangle)]
extern "C" fn emulated_shared(at: u32, bytes: u32) -> *mut u8 {
    act(|c, t| {
        let (rank, at) = place(c, t, at)?;
        c.blocks[rank]
            .at(at, bytes)
            .ok_or_else(|| format!("{bytes} bytes at {at:#x} of shared memory: beyond it, or not aligned"))
    })
}

#[unsafe(no_mangle)]
extern "C" fn emulated_wrote(at: u32) {
    act(|c, t| {
        let (rank, local) = (c.rank(t), c.local(t) as u32);
        if c.blocks[rank].counters.contains_key(&(at & !7)) {
            return Err(format!("writes to {at:#x} of shared memory, where a barrier lies"));
        }
        c.blocks[rank].wrote(at, local);
        c.threads[t].wrote.push(at);
        Ok(())
    });
}

#[unsafe(no_mangle)]
extern "C" fn emulated_publish() {
    act(|c, t| {
        let (rank, local) = (c.rank(t), c.local(t) as u32);
        for at in std::mem::take(&mut c.threads[t].wrote) {
            c.blocks[rank].published(at, local);
        }
        Ok(())
    });
}

/// # Safety
/// `all` has room for the words of 32 lanes.
#[unsafe(no_mangle)]
unsafe extern "C" fn emulated_gather(mine: u64, all: *mut u64) {
    wait(|c, t| Ok(Wait::Warp(c.give(t, mine))));
    let words = act(|c, t| Ok(c.given(t)));
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(words.as_ptr(), all, words.len()) };
}

#[unsafe(no_mangle)]
extern "C" fn emulated_barrier(id: u32, threads: u32) {
    wait(|c, t| {
        let of = if threads == 0 { c.block_threads as u32 } else { threads };
        let rank = c.rank(t);
        let meeting = c.blocks[rank].meetings.entry(id).or_insert_with(Meeting::default).arrive(of);
        Ok(Wait::Barrier { id, meeting })
    });
}

#[unsafe(no_mangle)]
extern "C" fn emulated_cluster_sync() {
    wait(|c, _| {
        let of = c.threads.len() as u32;
        Ok(Wait::Cluster(c.meeting.arrive(of)))
    });
}

#[unsafe(no_mangle)]
extern "C" fn emulated_barrier_init(b: u32, arrivals: u32) {
    act(|c, t| {
        let rank = c.rank(t);
        match c.blocks[rank].counters.insert(b, Counter::new(arrivals)) {
            None => Ok(()),
            Some(_) => Err(format!("the barrier at {b:#x} is made twice")),
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn emulated_arrive(b: u32, bytes: u32) {
    act(|c, t| {
        let (rank, at) = place(c, t, b)?;
        let counter =
            c.blocks[rank].counters.get_mut(&at).ok_or_else(|| format!("no barrier was made at {at:#x}"))?;
        counter.arrive(bytes).ok_or_else(|| format!("one arrival too many at the barrier at {at:#x}"))
    });
}

#[unsafe(no_mangle)]
extern "C" fn emulated_wait(b: u32, parity: u32) {
    wait(|c, t| {
        let rank = c.rank(t);
        if c.blocks[rank].counters.contains_key(&b) {
            Ok(Wait::Counter { at: b, parity })
        } else {
            Err(format!("waits for a barrier at {b:#x}, where none was made"))
        }
    });
}

/// # Safety
/// `map` points to a map that `copy::encode` wrote.
#[unsafe(no_mangle)]
unsafe extern "C" fn emulated_load(to: u32, map: *const u64, column: i32, row: i32, member: i32, b: u32) {
    act(|c, t| {
        let rank = c.rank(t);
        if !c.blocks[rank].counters.contains_key(&b) {
            return Err(format!("a copy reports to a barrier at {b:#x}, where none was made"));
        }
        // SAFETY: the caller's promise.
        c.copies.push(unsafe { Copy::new(map, [column, row, member], to, rank, Kind::Load { barrier: b }) });
        Ok(())
    });
}

/// # Safety
/// As [`emulated_load`].
#[unsafe(no_mangle)]
unsafe extern "C" fn emulated_store(map: *const u64, column: i32, row: i32, member: i32, from: u32) {
    act(|c, t| {
        let (rank, group) = (c.rank(t), c.threads[t].store_groups);
        let kind = Kind::Store { thread: t, group };
        // SAFETY: the caller's promise.
        c.copies.push(unsafe { Copy::new(map, [column, row, member], from, rank, kind) });
        Ok(())
    });
}

#[unsafe(no_mangle)]
extern "C" fn emulated_commit_stores() {
    act(|c, t| {
        c.threads[t].store_groups += 1;
        Ok(())
    });
}

/// Until all but the last `left` groups of this thread's stores have been read: they are, now.
#[unsafe(no_mangle)]
extern "C" fn emulated_wait_stores(left: u32) {
    act(|c, t| {
        let upto = c.threads[t].store_groups.saturating_sub(left as usize);
        let due =
            |copy: &Copy| matches!(copy.kind, Kind::Store { thread, group } if thread == t && group < upto);
        while let Some(i) = c.copies.iter().position(due) {
            c.land(i);
        }
        c.fault.take().map_or(Ok(()), Err)
    });
}

/// # Safety
/// `d` points to `columns / 2` sums that live until the thread has waited for the product, `a` to four words or nothing.
#[unsafe(no_mangle)]
unsafe extern "C" fn emulated_product(
    columns: u32,
    d: *mut f32,
    a: *const u32,
    a_at: u64,
    b_at: u64,
    add: u32,
    across: u32,
) {
    act(|c, t| {
        let in_memory = a.is_null();
        // SAFETY: the caller's promise.
        let words = if in_memory { [0; 4] } else { unsafe { a.cast::<[u32; 4]>().read() } };
        let shape = Shape {
            columns: columns as usize,
            a: in_memory.then_some(a_at),
            b: b_at,
            add: add != 0,
            across: across != 0,
        };
        let (index, lane) = (c.threads[t].asked, c.local(t) % 128);
        c.threads[t].asked += 1;
        c.products(t).0.ask(index, lane, shape, d, words)
    });
}

#[unsafe(no_mangle)]
extern "C" fn emulated_commit_products() {
    act(|c, t| {
        let asked = c.threads[t].asked;
        c.threads[t].commits.push(asked);
        Ok(())
    });
}

/// Until all but the last `left` groups of products are done.
#[unsafe(no_mangle)]
extern "C" fn emulated_wait_products(left: u32) {
    wait(|c, t| {
        let commits = &mut c.threads[t].commits;
        let due = commits.len().saturating_sub(left as usize);
        let upto = commits.drain(..due).next_back().unwrap_or(0);
        Ok(Wait::Products(upto))
    });
}

/// A piece of 16 bytes, or zeros.
#[unsafe(no_mangle)]
extern "C" fn emulated_piece(to: u32, from: *const c_void) {
    act(|c, t| {
        let group = c.threads[t].piece_groups;
        c.ask_piece(t, Piece { from: from.cast(), to, group })
    });
}

#[unsafe(no_mangle)]
extern "C" fn emulated_commit_pieces() {
    act(|c, t| {
        c.threads[t].piece_groups += 1;
        Ok(())
    });
}

/// Until all but the last `left` groups of this thread's pieces are there: they are, now.
#[unsafe(no_mangle)]
extern "C" fn emulated_wait_pieces(left: u32) {
    act(|c, t| {
        c.land_pieces(t, left as usize);
        Ok(())
    });
}
