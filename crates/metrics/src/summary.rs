//! All metrics of a series under their names, in the order of a report.

use crate::metric::{Metric, Undefined};
use crate::series::Series;
use crate::{
    bar_count, best_day, best_month, break_even_bp, cagr, calmar, cost_share, cvar_bars, cvar_days,
    days_per_year, deflated_sharpe, exposure_share, kurtosis, longest_drawdown_days, max_drawdown_closes,
    max_drawdown_worst, mean_holding_bars, mean_holding_hours, mean_leverage, mean_trip, omega, payoff_ratio,
    periods_per_year, profit_factor, session_count, sharpe_bars, sharpe_days, skewness, sortino, tail_ratio,
    total_return, trip_count, turnover, ulcer_index, var_days, volatility, win_rate, winning_days, worst_day,
    worst_month,
};

/// What a metric counts, for printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number.
    Ratio,
    /// A share, printed as a percentage.
    Share,
    /// A whole number.
    Count,
    /// Money units of the ledger.
    Money,
    /// Basis points.
    BasisPoints,
    /// Times, as in 2.1×.
    Times,
    /// Bars.
    Bars,
    /// Hours.
    Hours,
    /// Days.
    Days,
}

/// A metric under its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Named {
    /// Stable key, for files.
    pub key: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// What it comes to.
    pub metric: Metric,
}

type Entry = (&'static str, &'static str, Unit, fn(&Series) -> Metric);

const ENTRIES: [Entry; 40] = [
    ("total_return", "Total return", Unit::Share, total_return),
    ("cagr", "Growth per year (CAGR)", Unit::Share, cagr),
    ("volatility", "Volatility per year", Unit::Share, volatility),
    ("sharpe_days", "Sharpe, per session day", Unit::Ratio, sharpe_days),
    ("deflated_sharpe", "Deflated Sharpe, per session day", Unit::Ratio, deflated_sharpe),
    ("sharpe_bars", "Sharpe, per bar", Unit::Ratio, sharpe_bars),
    ("sortino", "Sortino, per bar", Unit::Ratio, sortino),
    ("calmar", "Calmar", Unit::Ratio, calmar),
    ("max_drawdown_closes", "Deepest drawdown, on closes", Unit::Share, max_drawdown_closes),
    ("max_drawdown_worst", "Deepest drawdown, within bars", Unit::Share, max_drawdown_worst),
    ("longest_drawdown_days", "Longest drawdown, days", Unit::Days, longest_drawdown_days),
    ("ulcer_index", "Ulcer index", Unit::Share, ulcer_index),
    ("var_days", "VaR 5 %, per session day", Unit::Share, var_days),
    ("cvar_days", "CVaR 5 %, per session day", Unit::Share, cvar_days),
    ("cvar_bars", "CVaR 5 %, per bar", Unit::Share, cvar_bars),
    ("skewness", "Skewness of session days", Unit::Ratio, skewness),
    ("kurtosis", "Excess kurtosis of session days", Unit::Ratio, kurtosis),
    ("tail_ratio", "Tail ratio of session days", Unit::Ratio, tail_ratio),
    ("omega", "Omega of session days", Unit::Ratio, omega),
    ("winning_days", "Winning session days", Unit::Share, winning_days),
    ("best_day", "Best session day", Unit::Share, best_day),
    ("worst_day", "Worst session day", Unit::Share, worst_day),
    ("best_month", "Best month", Unit::Share, best_month),
    ("worst_month", "Worst month", Unit::Share, worst_month),
    ("turnover", "Turnover per year", Unit::Times, turnover),
    ("exposure_share", "Share of bars with a position", Unit::Share, exposure_share),
    ("mean_leverage", "Mean leverage", Unit::Times, mean_leverage),
    ("cost_share", "Costs over starting equity", Unit::Share, cost_share),
    ("break_even_bp", "Break-even cost per traded notional", Unit::BasisPoints, break_even_bp),
    ("trip_count", "Round trips", Unit::Count, trip_count),
    ("win_rate", "Winning round trips", Unit::Share, win_rate),
    ("profit_factor", "Profit factor", Unit::Ratio, profit_factor),
    ("payoff_ratio", "Payoff ratio", Unit::Ratio, payoff_ratio),
    ("mean_trip", "Mean gain of a round trip", Unit::Money, mean_trip),
    ("mean_holding_bars", "Mean holding time, bars", Unit::Bars, mean_holding_bars),
    ("mean_holding_hours", "Mean holding time, hours", Unit::Hours, mean_holding_hours),
    ("bar_count", "Bars", Unit::Count, bar_count),
    ("session_count", "Sessions", Unit::Count, session_count),
    ("periods_per_year", "Bars per year, counted", Unit::Count, periods_per_year),
    ("days_per_year", "Session days per year, counted", Unit::Count, days_per_year),
];

/// Every metric of a series.
pub fn summary(series: &Series) -> Vec<Named> {
    ENTRIES.iter().map(|&(key, label, unit, of)| Named { key, label, unit, metric: of(series) }).collect()
}

/// Every metric's key, name and unit in the order of [`summary`], for those who read figures back.
pub fn named() -> impl Iterator<Item = Named> {
    let none = Metric::Undefined(Undefined::NoTrades);
    ENTRIES.iter().map(move |&(key, label, unit, _)| Named { key, label, unit, metric: none })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;
    use foxhunt_ledger::{reconcile, synth::Synth};

    /// Nothing in a summary is ever NaN or infinite, on the worst series that there are.
    #[test]
    fn always_finite_or_undefined() {
        let hopeless: [&[i64]; 7] = [
            &[],
            &[1],
            &[0, 0, 0],
            &[i64::MAX, i64::MIN, i64::MAX],
            &[100, -100, 100],
            &[1, i64::MAX],
            &[i64::MAX; 500],
        ];
        for equity in hopeless {
            for named in summary(&daily(equity)) {
                assert!(named.metric.value().is_none_or(f64::is_finite), "{named:?}");
            }
        }
    }

    #[test]
    fn a_year_of_trading_defines_everything() {
        let ledger = Synth::default().ledger();
        let lines = reconcile(&ledger).unwrap().members[0];
        let summary = summary(&Series::new(&ledger, &lines));
        assert_eq!(summary.len(), 40);
        for named in &summary {
            assert!(named.metric.value().is_some(), "{named:?}");
        }
        let get = |key| summary.iter().find(|named| named.key == key).unwrap().metric.value().unwrap();
        // 6,240 bars on 261 days, within 52 weeks of a year of 365 days.
        assert!((get("periods_per_year") - 6_240.0 * 365.0 / 364.0).abs() < 1e-9);
        assert!((get("days_per_year") - 261.0 * 365.0 / 364.0).abs() < 1e-9);
        assert!(get("max_drawdown_worst") >= get("max_drawdown_closes"));
        assert!(get("cvar_days") < get("cvar_bars"));
    }
}
