//! Time: elapsed years, and how many bars and days a year of this data holds.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// A year as the account counts it: 365 days.
const YEAR_S: f64 = 31_536_000.0;
/// The days of the longest year.
const LEAP_YEAR_DAYS: f64 = 366.0;
pub(crate) const DAY_NS: i64 = 86_400_000_000_000;

/// Years of 365 days from the opening row to the last.
pub fn elapsed_years(series: &Series) -> Metric {
    years(series).into()
}

/// Returns per year, counted: bars traded over elapsed years. Never assumed: an hourly bar means 8,760 a year on a
/// market without a close, about 6,200 in foreign exchange, 1,638 on a stock exchange.
pub fn periods_per_year(series: &Series) -> Metric {
    ppy(series).into()
}

/// Session days per year, counted likewise; no more than a year has, though a short stretch begins and ends within sessions.
pub fn days_per_year(series: &Series) -> Metric {
    dpy(series).into()
}

/// Bars traded: rows after the opening one.
pub fn bar_count(series: &Series) -> Metric {
    Metric::Value(series.time_ns.len().saturating_sub(1) as f64)
}

/// Trading sessions that hold a traded bar, counted by the market's own clock. A night between two sessions is no day, and a
/// session that ends after midnight is one; those at the ends may be partial.
pub fn session_count(series: &Series) -> Metric {
    Metric::Value(sessions(series) as f64)
}

fn sessions(series: &Series) -> usize {
    let traded = series.day.get(1..).unwrap_or(&[]);
    let changes = traded.windows(2).filter(|pair| pair[0] != pair[1]).count();
    changes + usize::from(!traded.is_empty())
}

pub(crate) fn elapsed_ns(series: &Series) -> i64 {
    match (series.time_ns.first(), series.time_ns.last()) {
        (Some(&first), Some(&last)) => last.saturating_sub(first),
        _ => 0,
    }
}

pub(crate) fn years(series: &Series) -> Result<f64, Undefined> {
    let ns = elapsed_ns(series);
    if ns <= 0 {
        return Err(Undefined::TooFew { have: 0, need: 1 });
    }
    Ok(ns as f64 / 1e9 / YEAR_S)
}

pub(crate) fn ppy(series: &Series) -> Result<f64, Undefined> {
    Ok(series.time_ns.len().saturating_sub(1) as f64 / years(series)?)
}

pub(crate) fn dpy(series: &Series) -> Result<f64, Undefined> {
    Ok((sessions(series).max(1) as f64 / years(series)?).min(LEAP_YEAR_DAYS))
}

/// Refuses a stretch that is too short to speak of a year: 90 days.
pub(crate) fn at_least_90_days(series: &Series) -> Result<(), Undefined> {
    let (days, need) = (elapsed_ns(series) / DAY_NS, 90);
    if days < need { Err(Undefined::TooShort { days, need }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn counted_from_the_data() {
        // 73 days are a fifth of a year.
        let series = daily(&[1; 74]);
        assert_eq!(elapsed_years(&series), Metric::Value(0.2));
        assert_eq!(periods_per_year(&series), Metric::Value(365.0));
        assert_eq!(days_per_year(&series), Metric::Value(365.0));
        let mut sessions = daily(&[1; 74]);
        sessions.day = (0..74).map(|k| (k + 1) / 2).collect();
        // Rows 1 to 73 fall on days 1 to 37.
        assert_eq!(days_per_year(&sessions), Metric::Value(37.0 / 0.2));
        assert_eq!(
            (session_count(&sessions), bar_count(&sessions)),
            (Metric::Value(37.0), Metric::Value(73.0))
        );
        // Two sessions within a day and a bit: 730 in a year there are not.
        let mut short = daily(&[1; 3]);
        short.time_ns = vec![0, DAY_NS / 2, DAY_NS];
        short.day = vec![0, 0, 1];
        assert_eq!(days_per_year(&short), Metric::Value(366.0));
        assert_eq!(session_count(&daily(&[1])), Metric::Value(0.0));
        assert_eq!(periods_per_year(&daily(&[1])), Metric::Undefined(Undefined::TooFew { have: 0, need: 1 }));
        assert_eq!(days_per_year(&daily(&[])), Metric::Undefined(Undefined::TooFew { have: 0, need: 1 }));
    }
}
