//! The model of what a program has to move and to multiply.
//!
//! **Bytes**: every launch reads each buffer that it declares once and writes each that it declares once, whole, for every
//! member that has a part of its own; a product of the library, the elements of its operands and of its result. What stays
//! on chip within a launch is not counted, what is read by several launches is counted for each: it is the least that these
//! launches move if no cache carries anything from one to the next. A cache that does makes the share of the bandwidth exceed
//! what memory delivered; nothing is subtracted for it. Tables of which a launch picks rows by number (a replay, bars,
//! features) count what is picked, which the workload says.
//!
//! **Operations**: multiplications and additions of the matrix products that the network's shape asks for, without padding,
//! whoever computes them; see [`crate::forward_operations`] and [`crate::learn_operations`].

use foxhunt_device::{Program, Region};
use foxhunt_nn::Plan;
use serde::Serialize;
use std::{collections::HashMap, ops::Add};

/// What is moved and multiplied in one go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Bytes read and written.
    pub bytes: u64,
    /// Multiplications and additions of matrix products.
    pub operations: u64,
}

impl Work {
    /// The same `n` times.
    #[must_use]
    pub fn times(self, n: u64) -> Self {
        Work { bytes: self.bytes * n, operations: self.operations * n }
    }

    /// One of the `n` equal parts of it.
    #[must_use]
    pub fn part(self, n: u64) -> Self {
        Work { bytes: self.bytes / n, operations: self.operations / n }
    }
}

impl Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work { bytes: self.bytes + other.bytes, operations: self.operations + other.operations }
    }
}

/// Bytes of a run of `program`, one of `plan`'s, with the `operations` that its network asks for. `picked` are the buffers of
/// which a launch takes rows by number, and the bytes that it takes.
pub fn work(plan: &Plan, program: &Program, picked: &[(&str, u64)], operations: u64) -> Work {
    // A launch declares the stretch from the first member's part to the last's, which for a parameter is nearly the whole
    // image of all members; the plan knows what is the tensor's own.
    let own: HashMap<&str, u64> = plan
        .tensors()
        .map(|t| {
            let info = plan.info(t);
            let members = if info.shared { 1 } else { plan.members() };
            (info.name.as_str(), (members * info.rows * info.ld * info.element.bytes()) as u64)
        })
        .collect();
    let bytes = |region: &Region| {
        let name = region.name.as_str();
        match picked.iter().find(|(of, _)| *of == name) {
            Some((_, bytes)) => *bytes,
            None => own.get(name).map_or(region.bytes as u64, |own| (*own).min(region.bytes as u64)),
        }
    };
    let moved = program.traffic().iter().flat_map(|t| t.reads.iter().chain(&t.writes)).map(bytes).sum();
    Work { bytes: moved, operations }
}
