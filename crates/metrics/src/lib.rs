//! Performance metrics, one file each.
//!
//! Each is a plain function of a [`Series`], made from one member's rows of a reconciled ledger. A metric that has no
//! meaning for that series is [`Metric::Undefined`] with its reason; none is ever NaN, infinite or a stand-in number.
//! Definitions are those of section 7 of the market specification; where QuantStats or empyrical define a figure of
//! the same name alike, a test compares the two, and where they do not, the doc comment says so.
//!
//! Uncertainty comes in two kinds that are never merged: [`over_time`] (a stationary block bootstrap of one member's
//! returns) and [`over_members`] (the spread over seeds).

mod break_even;
mod cagr;
mod calmar;
mod cost_share;
mod cvar;
mod date;
mod deflated_sharpe;
mod drawdown;
mod drawdowns;
mod exposure;
mod extremes;
mod kurtosis;
mod metric;
mod months;
mod normal;
mod omega;
mod over_members;
mod over_time;
mod payoff;
mod periods;
mod quantile;
mod rolling_sharpe;
mod round_trips;
mod series;
mod sharpe;
mod skewness;
mod sortino;
mod summary;
mod tail_ratio;
mod time_intervals;
mod total_return;
mod turnover;
mod ulcer;
mod var;
mod volatility;
mod winning_days;

pub use break_even::break_even_bp;
pub use cagr::cagr;
pub use calmar::calmar;
pub use cost_share::cost_share;
pub use cvar::{cvar_bars, cvar_days};
pub use date::date_of_day;
pub use deflated_sharpe::{deflated_sharpe, deflated_sharpe_of};
pub use drawdown::{
    Drawdown, drawdown_closes, drawdown_worst, max_drawdown_closes, max_drawdown_worst, underwater,
};
pub use drawdowns::{drawdowns, longest_drawdown_days};
pub use exposure::{exposure_share, mean_leverage};
pub use extremes::{best_day, best_month, worst_day, worst_month};
pub use kurtosis::{kurtosis, kurtosis_of};
pub use metric::{Metric, Undefined};
pub use months::{MonthReturn, month_returns};
pub use omega::{omega, omega_of};
pub use over_members::{Spread, over_members};
pub use over_time::{Bootstrap, Interval, RETURNS_MIN, over_time};
pub use payoff::payoff_ratio;
pub use periods::{bar_count, days_per_year, elapsed_years, periods_per_year, session_count};
pub use rolling_sharpe::rolling_sharpe;
pub use round_trips::{
    RoundTrip, mean_holding_bars, mean_holding_hours, mean_trip, profit_factor, round_trips, trip_count,
    win_rate,
};
pub use series::Series;
pub use sharpe::{sharpe_bars, sharpe_days, sharpe_of};
pub use skewness::{skewness, skewness_of};
pub use sortino::{sortino, sortino_of};
pub use summary::{Named, Unit, named, summary};
pub use tail_ratio::{tail_ratio, tail_ratio_of};
pub use time_intervals::{TimeInterval, time_interval, time_interval_keys, time_intervals};
pub use total_return::{total_return, total_return_of};
pub use turnover::turnover;
pub use ulcer::ulcer_index;
pub use var::{var_days, var_of};
pub use volatility::volatility;
pub use winning_days::{winning_days, winning_share_of};
