//! Statistics over members, as few and as plain as the comparison needs.

mod bootstrap;
mod iqm;
mod normal;
mod power;

pub use bootstrap::{Bootstrap, Estimate};
pub use iqm::iqm;
pub use power::Power;
