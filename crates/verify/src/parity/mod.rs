//! Does a device do the same as the reference CPU?
//!
//! Whatever is counted is equal to the bit: accounts, replay, samples, ledgers. Whatever is summed in F32 by a library or by
//! tensor cores is not, so the claim is made where it can hold: from the same head inputs the same greedy actions, but for
//! near ties; and on one device the same training gives the same bytes, replayed as a graph or not.

mod accounts;
mod collect;
mod compare;
mod greedy;
mod ledgers;
#[cfg(test)]
mod tests;
mod training;
mod worlds;

use crate::VerifyError;
use foxhunt_core::DType;
use foxhunt_device::{Device, Isa};

/// What one comparison came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// How much was compared, and how close it was, in a line.
    pub said: String,
    /// What is not as claimed, the first of each kind.
    pub found: Vec<String>,
}

/// A claim about a device.
pub struct Parity {
    /// Its name.
    pub name: &'static str,
    /// Holds a device against a reference, in one storage type.
    pub compare: fn(&Device, &Device, DType) -> Result<Compared, VerifyError>,
}

/// Every claim:
///
/// - `parity.accounts`: with the same random actions, more than a million environment steps in all, by ordinary and harder
///   rules on trade and quote bars, on one market a member and on several: account, transition, tally, drawn indices, n-step samples and gathered observations are
///   equal to the bit.
/// - `parity.ledgers`: so are rows and fills of backtests of recorded and of random actions.
/// - `parity.greedy`: with the same head inputs the greedy actions are equal, but where the Q of the two chosen ones are next
///   to each other.
/// - `parity.collect`: where one launch takes many decisions, they are those of a launch each for observing, acting and
///   stepping, to the bit.
/// - `parity.training`: a short training is a function of its seed on the device: a captured graph's replay, another replay
///   and an eager run leave the same bytes. On a CPU the reference must leave them too.
pub fn parities() -> Vec<Parity> {
    vec![
        Parity { name: "parity.accounts", compare: accounts::compare },
        Parity { name: "parity.ledgers", compare: ledgers::compare },
        Parity { name: "parity.greedy", compare: greedy::compare },
        Parity { name: "parity.collect", compare: collect::compare },
        Parity { name: "parity.training", compare: training::compare },
    ]
}

/// What a device is held against: the CPU. A CPU is held against the build that does the items of each loop backwards, so
/// that it is not held against itself.
pub fn reference(device: &Device) -> Device {
    if device.is_cuda() { Device::cpu() } else { Device::cpu_with(Isa::Reversed) }
}
