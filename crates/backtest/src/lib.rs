//! Backtests: an agent, recorded actions or a scripted strategy through the market's physics, to a [`Ledger`].
//!
//! A [`Backtest`] is a stretch of a market with its rules. It runs P members at once, each with one account that starts
//! fresh at the stretch's first close and goes through it in one piece: decisions, fills and accounts are those of
//! training (the same kernels), the ledger is written on the device, and the loop is one captured graph that is replayed
//! once per bar. A ledger that was made from actions alone is the same on every device and in every storage type.
//!
//! A run ends at the stretch's last close, or at the close where an account was ruined. Whatever is then held is closed
//! at that close with half-spread, impact and fee, ruined or not: a ledger never ends with paper gains. That close-out
//! knows the close it fills at, which no order may; it is the one such fill, and it is in the assumptions of every
//! ledger.
//!
//! [`Ledger`]: foxhunt_ledger::Ledger

mod backtest;
mod baseline;
mod convert;
mod ends;
mod error;
mod exposures;
mod foresight;
mod header;
mod next;
mod scripted;
mod stitched;
mod strategy;
mod stress;
mod window;

pub use backtest::{Agents, Backtest};
pub use baseline::{
    DRAWS, FAST_DAYS, SLOW_DAYS, baselines, middle_member, moving_average, random_timing, volatility_target,
};
pub use ends::Ends;
pub use error::BacktestError;
pub use exposures::Exposures;
pub use foresight::foresight;
pub use next::{Decision, Holding};
pub use stitched::{Stretch, stitched};
pub use strategy::{AGGRESSIVE_LONG, FLAT, Strategy, buy_and_hold, flat, recorded};
pub use stress::{Rerun, StressLine, stress};
pub use window::TestWindow;
