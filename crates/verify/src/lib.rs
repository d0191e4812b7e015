//! Checks of the whole chain, from bars to ledger, that a user can run on their own data and machine.
//!
//! - [`leak()`]: what happens after a moment changes nothing before it.
//! - [`money()`]: no cent appears or is lost, whatever is done.
//! - [`learn()`]: an agent that is told the next bar learns to use it, and one that is told noise does not profit.
//! - [`known()`]: where the optimal policy is known, an agent comes close to it.
//! - [`parities()`]: a device does what the reference CPU does.
//!
//! Each returns the numbers that it judged by, a verdict, and a table for people. Each is known to fail: its tests plant
//! the faults that it is there to find.

mod agents;
mod dice;
mod error;
mod known;
mod leak;
mod learn;
mod money;
mod parity;

pub use agents::Agents;
pub use error::VerifyError;
pub use known::{KnownReport, known};
pub use leak::{Cut, LeakReport, leak};
pub use learn::{LearnReport, Trained, learn, learn_config};
pub use money::{MoneyReport, Played, money};
pub use parity::{Compared, Parity, parities, reference};
