//! Indicators: pure functions from columns to a column of the same length.
//!
//! A row before an indicator's first value is NaN. Each value of row t uses rows up to t alone. Definitions and the seeds of
//! the recursive ones (relative strength, true range, moving averages) are TA-Lib's, and tests hold them to its values; the
//! Rust crates `ta` and `yata` seed them otherwise (from the first price, not from a mean), so neither is used.

mod rolling;
mod smoothed;

pub use rolling::{rolling_max, rolling_mean, rolling_min, rolling_sd};
pub use smoothed::{Macd, atr, ema, macd, rsi};
