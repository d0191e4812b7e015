//! Weights and run state on disk, written whole or not at all. Doesn't know what the tensors mean.
//!
//! Three layers, each usable without the next:
//! - [`save_weights`], [`load_weights`], [`apply`]: one member's weights as a safetensors file, by logical part.
//! - [`save_state`], [`load_state`]: any tensors of a plan and a small JSON value, as raw bytes, for bit-exact resume.
//! - [`RunFolder`]: a folder of configuration, metrics and saves that a kill at any moment leaves usable.
//!
//! No byte of any file depends on the clock, the host or a path.

mod digest;
mod disk;
mod error;
mod format;
mod run;
mod seal;
mod state;
mod weights;

pub use error::CheckpointError;
pub use run::{
    CHECKPOINTS, CONFIG, FINISHED, LOCK, METRICS, Peek, RUN, Retention, RunFolder, Save, SaveWriter, Status,
    lock,
};
pub use seal::{Unsealed, seal, unseal};
pub use state::{load_state, read_host, save_state};
pub use weights::{NamedTensor, NamedTensors, apply, load_weights, save_weights};

// Files are little-endian, memory is the machine's.
const _: () = assert!(cfg!(target_endian = "little"), "checkpoints are written from memory as it lies");

type Result<T, E = CheckpointError> = std::result::Result<T, E>;
