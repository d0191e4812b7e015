//! The batched trading environment: E accounts for each of P members on real bars, stepped, recorded and replayed on the
//! device.
//!
//! [`Tables`] are the data, [`MemberSpec`] says what one member trains on, [`Environments`] owns the memory and makes the
//! commands: reset, observe, act, step, sample, gather. Whatever changes from step to step lives in device memory, so that
//! a captured graph of these commands replays right.

mod backtest;
mod buffer;
mod environments;
mod error;
mod layout;
mod member;
mod tables;

pub use backtest::LedgerViews;
pub use buffer::Buffer;
pub use environments::{Environments, Shape};
pub use error::EnvError;
pub use foxhunt_kernels::env::{
    ACCOUNT_FEATURES, Env, EnvMember, Exploration, Sample, Summary, Tally, Transition,
};
pub use layout::OwnBuffers;
pub use member::{MemberSpec, exploration, temperature};
pub use tables::{FeatureId, TableId, Tables};
