//! A cluster of blocks: its threads as coroutines, and who waits for what.

use crate::{
    block::{Block, Counter, Meeting},
    calls::{self, Fiber},
    copy::{Copy, Kind},
    piece::Piece,
    product::Products,
    table::EmulatedInfo,
};
use foxhunt_core::rng::member_seed;
use std::{ffi::c_void, fmt};

const WARP: usize = 32;
const WARPGROUP: usize = 128;

/// Which blocks of the grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) first_block: u32,
    pub(crate) member: u32,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wait {
    /// Nothing: it may run.
    Nothing,
    /// The other lanes of its warp, at a meeting.
    Warp(u32),
    /// Other threads of its block, at a meeting at a barrier.
    Barrier { id: u32, meeting: u32 },
    /// All threads of the cluster, at a meeting.
    Cluster(u32),
    /// The phase of this parity of a barrier of its block.
    Counter { at: u32, parity: u32 },
    /// All products before this one.
    Products(usize),
    /// Nothing will come: it is done, or at fault.
    End,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wait::Nothing => f.write_str("runs"),
            Wait::Warp(_) => f.write_str("waits for its warp"),
            Wait::Barrier { id, .. } => write!(f, "waits at barrier {id}"),
            Wait::Cluster(_) => f.write_str("waits for the cluster"),
            Wait::Counter { at, parity } => write!(f, "waits for parity {parity} of the barrier at {at:#x}"),
            Wait::Products(_) => f.write_str("waits for products"),
            Wait::End => f.write_str("is done"),
        }
    }
}

/// A thread's own.
pub(crate) struct Thread {
    pub(crate) wait: Wait,
    /// Products asked for, and how many at each commit.
    pub(crate) asked: usize,
    pub(crate) commits: Vec<usize>,
    /// Groups of stores committed.
    pub(crate) store_groups: usize,
    /// Words written and not published.
    pub(crate) wrote: Vec<u32>,
    /// Pieces on their way, and groups of them committed.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) piece_groups: usize,
}

#[derive(Default)]
struct Warp {
    meeting: Meeting,
    given: [u64; WARP],
    all: [u64; WARP],
}

/// A cluster that runs. A thread's number counts through its blocks.
pub(crate) struct Cluster {
    pub(crate) place: Place,
    pub(crate) block_threads: usize,
    pub(crate) blocks: Vec<Block>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) copies: Vec<Copy>,
    pub(crate) fault: Option<String>,
    pub(crate) meeting: Meeting,
    warps: Vec<Warp>,
    products: Vec<Products>,
    seed: u64,
    draws: u64,
}

impl Cluster {
    pub(crate) fn new(info: &EmulatedInfo, place: Place, seed: u64) -> Self {
        let (blocks, block_threads) = (info.cluster.max(1) as usize, info.threads as usize);
        let threads = blocks * block_threads;
        let thread = || Thread {
            wait: Wait::Nothing,
            asked: 0,
            commits: Vec::new(),
            store_groups: 0,
            wrote: Vec::new(),
            pieces: Vec::new(),
            piece_groups: 0,
        };
        let groups = blocks * block_threads.div_ceil(WARPGROUP);
        Cluster {
            place,
            block_threads,
            // The kernel's own memory begins at 1,024, so that an address of 0 is never right.
            blocks: (0..blocks).map(|_| Block::new(info.shared_bytes as usize)).collect(),
            threads: (0..threads).map(|_| thread()).collect(),
            copies: Vec::new(),
            fault: None,
            meeting: Meeting::default(),
            warps: (0..threads / WARP).map(|_| Warp::default()).collect(),
            products: (0..groups).map(|_| Products::default()).collect(),
            seed,
            draws: 0,
        }
    }

    pub(crate) fn random(&mut self, below: usize) -> usize {
        self.draws += 1;
        (member_seed(self.seed, self.draws) % below.max(1) as u64) as usize
    }

    /// Block of a thread, by rank.
    pub(crate) fn rank(&self, thread: usize) -> usize {
        thread / self.block_threads
    }

    /// Number of a thread in its block.
    pub(crate) fn local(&self, thread: usize) -> usize {
        thread % self.block_threads
    }

    fn group(&self, thread: usize) -> usize {
        self.rank(thread) * self.block_threads.div_ceil(WARPGROUP) + self.local(thread) / WARPGROUP
    }

    /// The products of the warpgroup of a thread, and the block that they read.
    pub(crate) fn products(&mut self, thread: usize) -> (&mut Products, &Block) {
        let (group, rank) = (self.group(thread), self.rank(thread));
        (&mut self.products[group], &self.blocks[rank])
    }

    /// A lane gives its word; which meeting it is for.
    pub(crate) fn give(&mut self, thread: usize, word: u64) -> u32 {
        let warp = &mut self.warps[thread / WARP];
        warp.given[thread % WARP] = word;
        let meeting = warp.meeting.arrive(WARP as u32);
        if warp.meeting.met > meeting {
            warp.all = warp.given;
        }
        meeting
    }

    /// The words of all lanes at their last meeting.
    pub(crate) fn given(&self, thread: usize) -> [u64; WARP] {
        self.warps[thread / WARP].all
    }

    /// Carries out the copy at `i` of those on their way.
    pub(crate) fn land(&mut self, i: usize) {
        let copy = self.copies.swap_remove(i);
        let block = &mut self.blocks[copy.rank];
        if let Err(what) = copy.carry_out(block) {
            self.fault.get_or_insert(what);
        }
        if let Kind::Load { barrier } = copy.kind
            && let Some(counter) = block.counters.get_mut(&barrier)
        {
            counter.bytes_came(crate::copy::BLOCK_BYTES as u32);
        }
    }

    /// Whether what a thread waits for has come.
    fn ready(&mut self, thread: usize) -> bool {
        let rank = self.rank(thread);
        match self.threads[thread].wait {
            Wait::Nothing => true,
            Wait::End => false,
            Wait::Warp(meeting) => self.warps[thread / WARP].meeting.met > meeting,
            Wait::Barrier { id, meeting } => {
                self.blocks[rank].meetings.get(&id).is_some_and(|m| m.met > meeting)
            }
            Wait::Cluster(meeting) => self.meeting.met > meeting,
            Wait::Counter { at, parity } => {
                self.blocks[rank].counters.get(&at).is_some_and(|c: &Counter| c.phase % 2 != parity)
            }
            Wait::Products(upto) => {
                let (products, block) = self.products(thread);
                match products.settle(block, upto) {
                    Ok(done) => done,
                    Err(what) => {
                        self.fault.get_or_insert(what);
                        false
                    }
                }
            }
        }
    }

    /// Runs the kernel's entry in every thread until all are done.
    ///
    /// # Errors
    /// The first fault of a thread, or a deadlock.
    pub(crate) fn run(
        mut self,
        entry: unsafe extern "C" fn(*const c_void),
        args: usize,
    ) -> Result<(), String> {
        let mut fibers: Vec<Fiber> = (0..self.threads.len()).map(|_| calls::fiber(entry, args)).collect();
        let out = self.schedule(&mut fibers);
        for mut fiber in fibers {
            if fiber.started() && !fiber.done() {
                // SAFETY: frames of C++ alone, and of calls that own nothing while they are suspended.
                unsafe { fiber.force_reset() };
            }
            if fiber.done() {
                calls::retire(fiber);
            }
        }
        out
    }

    fn schedule(&mut self, fibers: &mut [Fiber]) -> Result<(), String> {
        loop {
            let mut i = self.copies.len();
            while i > 0 {
                i -= 1;
                if self.random(2) == 0 {
                    self.land(i);
                }
            }
            self.land_some_pieces();
            let mut moved = false;
            let warps = self.threads.len().div_ceil(WARP);
            let first = self.random(warps);
            let backwards = self.random(2) == 0;
            for k in 0..warps {
                let k = if backwards { warps - 1 - k } else { k };
                let warp = (first + k) % warps;
                for (thread, fiber) in fibers.iter_mut().enumerate().skip(warp * WARP).take(WARP) {
                    if !self.ready(thread) {
                        continue;
                    }
                    moved = true;
                    self.threads[thread].wait = Wait::Nothing;
                    calls::resume(self, thread, fiber);
                    if let Some(fault) = self.fault.take() {
                        return Err(self.of_thread(thread, &fault));
                    }
                    if fiber.done() {
                        self.threads[thread].wait = Wait::End;
                        self.check_end(thread)?;
                    }
                }
            }
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            if moved {
                continue;
            }
            if self.threads.iter().all(|t| t.wait == Wait::End) {
                return self.check_all();
            }
            if self.copies.is_empty() {
                return Err(self.deadlock());
            }
            while !self.copies.is_empty() {
                self.land(0);
            }
        }
    }

    fn of_thread(&self, thread: usize, fault: &str) -> String {
        let Place { first_block, member } = self.place;
        let block = first_block as usize + self.rank(thread);
        format!("thread {} of block {block}, member {member}: {fault}", self.local(thread))
    }

    /// A thread must not leave stores behind that still read the block's memory.
    fn check_end(&self, thread: usize) -> Result<(), String> {
        let left = |c: &Copy| matches!(c.kind, Kind::Store { thread: t, .. } if t == thread);
        if self.copies.iter().any(left) {
            return Err(self.of_thread(thread, "ends while its stores still read shared memory"));
        }
        if !self.threads[thread].pieces.is_empty() {
            return Err(self.of_thread(thread, "ends while its copies are on their way"));
        }
        Ok(())
    }

    fn check_all(&self) -> Result<(), String> {
        if !self.copies.is_empty() {
            return Err("the kernel ends while copies are on their way".into());
        }
        if self.products.iter().any(Products::pending) {
            return Err("the kernel ends while products run".into());
        }
        Ok(())
    }

    fn deadlock(&self) -> String {
        let mut text = String::from("deadlock:");
        let mut last = String::new();
        for (thread, t) in self.threads.iter().enumerate().filter(|(_, t)| t.wait != Wait::End) {
            let now = t.wait.to_string();
            if now != last {
                text.push_str(&format!("\n  {}", self.of_thread(thread, &now)));
                last = now;
            }
        }
        text
    }
}
