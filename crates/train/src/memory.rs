//! Device memory of a training by purpose.

use crate::Trainer;
use foxhunt_env::{Buffer, Environments};
use foxhunt_nn::{Memory, MemoryPurpose};

/// What a buffer of the environments is for.
fn purpose(buffer: Buffer) -> MemoryPurpose {
    match buffer {
        Buffer::Bars | Buffer::Context | Buffer::Features => MemoryPurpose::Data,
        Buffer::Ring => MemoryPurpose::Replay,
        // The network's inputs.
        Buffer::Observation | Buffer::States => MemoryPurpose::Activations,
        Buffer::Members
        | Buffer::Rules
        | Buffer::Exploration
        | Buffer::Envs
        | Buffer::Tally
        | Buffer::Actions
        | Buffer::Draws
        | Buffer::Indices
        | Buffer::BatchActions
        | Buffer::Samples => MemoryPurpose::Integers,
    }
}

/// The arena of the environments.
fn environments(env: &Environments) -> Memory {
    let mut memory = Memory::default();
    for buffer in Buffer::ALL {
        let view = env.view(buffer);
        memory.add(purpose(buffer), view.element, view.region().bytes);
    }
    let rest = env.arena().bytes() as u64 - memory.total();
    memory.add_untyped(MemoryPurpose::Alignment, rest as usize);
    memory
}

impl Trainer {
    /// All device memory that it holds: its plan's arena, its environments' and the matrix library's workspace, which
    /// the device shares with whoever else computes on it. Not the driver's own, nor what the backtests after the last
    /// epoch take for themselves.
    pub fn memory(&self) -> Memory {
        let mut memory = *self.runtime().memory();
        memory.merge(&environments(self.environments()));
        memory.add_untyped(MemoryPurpose::Workspace, self.runtime().device().workspace_bytes());
        memory
    }
}
