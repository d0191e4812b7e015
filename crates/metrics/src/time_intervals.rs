//! The figures that have an interval over time, and that interval.

use crate::metric::{Metric, Undefined};
use crate::over_time::{Bootstrap, Interval, over_time};
use crate::periods::{days_per_year, periods_per_year};
use crate::series::Series;
use crate::{sharpe_of, sortino_of, total_return_of};

/// Resampled values that a bootstrap may touch, so that a year of minutes does not take minutes itself.
const TOUCHED_MAX: usize = 40_000_000;

type Statistic = fn(&[f64], f64) -> Metric;

/// Key, whether it is of days, and the statistic of resampled returns.
const OF: [(&str, bool, Statistic); 4] = [
    ("total_return", true, |returns, _| total_return_of(returns)),
    ("sharpe_days", true, sharpe_of),
    ("sharpe_bars", false, sharpe_of),
    ("sortino", false, sortino_of),
];

/// A figure of one member with its interval over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeInterval {
    /// The figure's key in [`summary`](crate::summary()).
    pub key: &'static str,
    /// Whether days are resampled; or bars.
    pub of_days: bool,
    /// Its 95 % interval, or why there is none.
    pub interval: Result<Interval, Undefined>,
}

/// The figures that have an interval over time, by their keys.
pub fn time_interval_keys() -> impl Iterator<Item = &'static str> {
    OF.iter().map(|&(key, ..)| key)
}

/// The interval of one figure, with [`over_time`]; nothing for a figure that has none.
pub fn time_interval(series: &Series, key: &str, seed: u64) -> Option<TimeInterval> {
    let &(key, of_days, statistic) = OF.iter().find(|(own, ..)| *own == key)?;
    let (returns, per_year) = if of_days {
        (series.day_returns(), days_per_year(series))
    } else {
        (series.returns(), periods_per_year(series))
    };
    let interval = returns.and_then(|returns| {
        let draws = (TOUCHED_MAX / returns.len().max(1)).clamp(200, 2_000);
        let how = Bootstrap { draws: draws as u32, seed, ..Bootstrap::default() };
        let per_year = per_year.value().unwrap_or(1.0);
        over_time(&returns, |sample| statistic(sample, per_year), &how)
    });
    Some(TimeInterval { key, of_days, interval })
}

/// The intervals of all figures that have one.
pub fn time_intervals(series: &Series, seed: u64) -> Vec<TimeInterval> {
    time_interval_keys().filter_map(|key| time_interval(series, key, seed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary;
    use foxhunt_ledger::{reconcile, synth::Synth};

    #[test]
    fn a_figure_lies_in_its_interval() {
        let ledger = Synth { bars: 2_000, members: 1, ..Synth::default() }.ledger();
        let series = Series::new(&ledger, &reconcile(&ledger).unwrap().members[0]);
        let all = time_intervals(&series, 3);
        assert_eq!(all.iter().map(|i| i.key).collect::<Vec<_>>(), time_interval_keys().collect::<Vec<_>>());
        for one in &all {
            let own = summary(&series).into_iter().find(|named| named.key == one.key).unwrap();
            let (value, interval) = (own.metric.value().unwrap(), one.interval.unwrap());
            assert!(interval.low < value && value < interval.high, "{one:?} {value}");
            assert_eq!(time_interval(&series, one.key, 3), Some(*one), "the same seed, the same interval");
        }
        assert_eq!(time_interval(&series, "trip_count", 3), None);
    }
}
