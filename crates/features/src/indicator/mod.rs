//! Indicators: pure functions from columns to a column of the same length.
//!
//! A row before an indicator's first value is NaN. Each value of row t uses rows up to t alone. Definitions and the seeds of
//! the recursive ones (relative strength, true range, moving averages) are TA-Lib's, and tests hold them to its values; the
//! Rust crates `ta` and `yata` seed them otherwise (from the first price, not from a mean), so neither is used. What TA-Lib
//! has not (moments, rank, volatility from ranges) is held to pandas.

mod directional;
mod distribution;
mod momentum;
mod ranges;
mod rolling;
mod smoothed;
mod volume;

pub use directional::{Directional, aroon, cci, directional, efficiency, slope};
pub use distribution::{autocorrelation, kurtosis, rank, skew, variance_ratio};
pub use momentum::{chande, mean_of_known, money_flow, stochastic, trix};
pub use ranges::{garman_klass, parkinson, rogers_satchell, yang_zhang};
pub use rolling::{rolling_max, rolling_mean, rolling_min, rolling_sd};
pub use smoothed::{Macd, atr, ema, macd, rsi};
pub use volume::{amihud, balance_slope, chaikin, vwap};
