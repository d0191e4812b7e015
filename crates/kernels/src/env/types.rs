//! Mirrors of the structs of `environment.cuh`, `acting.cuh` and `replay.cu`, byte for byte.

use crate::market::Account;
use bytemuck::{Pod, Zeroable};

/// Columns of an observation that describe the account.
pub const ACCOUNT_FEATURES: usize = 13;

/// What is known at a bar's close beside its prices: one row for each row of the bar table.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Context {
    /// 30-day EWMA of the volatility of one bar, 1e-9 of price.
    pub volatility_e9: u32,
    /// Seconds to the session's close.
    pub session_seconds: u32,
}

/// One member's row: where its data lie, and how it learns.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct EnvMember {
    /// The Philox key.
    pub seed: u64,
    /// Row of the feature table less row of the bar table: which normaliser made the member's features.
    pub feature_shift: i64,
    /// First row of the training window in the bar table.
    pub begin: u32,
    /// Row after the window's last.
    pub end: u32,
    /// L: decisions of an episode.
    pub episode_bars: u32,
    /// W: rows of an observation.
    pub lookback: u32,
    /// Least volatility of an episode, 1e-9: the 5th percentile of the window.
    pub volatility_floor_e9: u32,
    /// `sqrt(1 - gamma^2)`, 2^-32.
    pub gain_q32: u32,
    /// Discount, 2^-31.
    pub discount_q31: u32,
    /// n of the n-step return.
    pub n_step: u32,
}

/// State of one environment between decisions.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Env {
    /// The account.
    pub account: Account,
    /// Decisions so far: the clock of exploration and of the replay ring, the same in every environment of a member.
    pub step: u64,
    /// Sum of the episode's unscaled rewards, 2^-20.
    pub return_q20: i64,
    /// Row of the bar whose close is decided at.
    pub bar: u32,
    /// Row of the bar at whose close the episode ends.
    pub end: u32,
    /// Number of the episode, from 0.
    pub episode: u32,
    /// Volatility of one bar at the episode's start, 1e-9.
    pub volatility_e9: u32,
}

/// Counts of one member since the reset.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Tally {
    /// Episodes that ended.
    pub episodes: u64,
    /// Of these, terminated.
    pub terminated: u64,
    /// Rewards of ln 0.01.
    pub floors: u64,
    /// Scaled rewards that did not fit.
    pub saturated: u64,
    /// Stops of finished episodes.
    pub stops: u64,
    /// Liquidations of finished episodes.
    pub liquidations: u64,
    /// Targets that were clamped.
    pub clamped: u64,
    /// Sum of unscaled rewards of finished episodes, 2^-20.
    pub return_q20: i64,
}

/// What a network sees of an account at a close, in integers.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Summary {
    /// Money.
    pub equity: i64,
    /// Money.
    pub unrealised: i64,
    /// Highest equity at a close, money.
    pub peak: i64,
    /// Lots.
    pub position: i32,
    /// Closes since the position was opened, at most 65,535.
    pub bars: u16,
    /// Filled part of the last order, 1/255.
    pub fill_share: u8,
    /// A [`crate::market::OrderEnd`] in the low four bits, a [`crate::market::Exit`] in the high.
    pub ended: u8,
}

/// One row of replay: everything that s, a, r, s' are rebuilt from.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Transition {
    /// The account at the close of `bar`.
    pub before: Summary,
    /// The account at the close of the next bar, before any reset.
    pub after: Summary,
    /// Row of the bar table that was decided at.
    pub bar: u32,
    /// Number of the episode.
    pub episode: u32,
    /// The episode's volatility, 1e-9.
    pub volatility_e9: u32,
    /// Log return of equity, 2^-20.
    pub reward_q20: i32,
    /// The same over the member's unit, 2^-20.
    pub scaled_q20: i32,
    /// Exposure, order type, urgency.
    pub action: [u8; 3],
    /// Bits of [`crate::market::flag`].
    pub flags: u8,
    /// Zero.
    pub reserved: [u32; 2],
}

/// Schedule of epsilon in 2^-31 (2^31 is 1), or of a temperature in 2^-24: `start + (end - start) min(step, steps) / steps`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Exploration {
    /// At step 0.
    pub start: u32,
    /// From step `steps` on.
    pub end: u32,
    /// Steps of an environment that the fall takes.
    pub steps: u32,
    /// Zero.
    pub reserved: u32,
}

/// What learning needs of one sample beside s, a and s'.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Sample {
    /// Discounted sum of scaled rewards over the window, 2^-20.
    pub return_q20: i32,
    /// `gamma^m (1 - terminated)`, 2^-31.
    pub discount_q31: u32,
    /// Row of the ring times E, plus the environment.
    pub index: u32,
    /// m: steps of the window.
    pub steps: u32,
}
