//! Drawdown relative to the peak, on closes and on the worst equity within bars.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// The deepest fall from a peak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawdown {
    /// `(peak − trough) / peak`, positive; above 1 if equity fell below zero.
    pub depth: f64,
    /// Close of the bar with the peak, ns UTC.
    pub start_ns: i64,
    /// Close of the bar with the trough, ns UTC.
    pub trough_ns: i64,
    /// First close at or above the peak again, ns UTC; none if the series ended before.
    pub recovery_ns: Option<i64>,
}

/// The deepest drawdown on closes; none if equity never fell. Peaks include the opening row.
pub fn drawdown_closes(series: &Series) -> Option<Drawdown> {
    deepest(series, |k| series.equity.get(k).copied())
}

/// The deepest fall from a peak of closes to the worst equity within a bar. Never shallower than on closes; no other
/// library has it, for it takes the worst price that a position met.
pub fn drawdown_worst(series: &Series) -> Option<Drawdown> {
    deepest(series, |k| {
        let close = series.equity.get(k).copied()?;
        // Costs of an exit after the adverse move may make the close the lower of the two.
        Some(series.worst_equity.get(k).copied()?.min(close))
    })
}

/// Depth of the deepest drawdown on closes. Equal to QuantStats and empyrical `max_drawdown` but for the sign, if those
/// are shown the opening row.
pub fn max_drawdown_closes(series: &Series) -> Metric {
    depth(series, drawdown_closes(series))
}

/// Depth of the deepest drawdown on worst equity.
pub fn max_drawdown_worst(series: &Series) -> Metric {
    depth(series, drawdown_worst(series))
}

/// How far each close lies below the highest close so far, as a share of it: 0 at a peak, negative below.
pub fn underwater(series: &Series) -> Vec<f64> {
    let mut peak = i64::MIN;
    let below = |&equity: &i64| {
        peak = peak.max(equity);
        if peak > 0 { (equity as f64 - peak as f64) / peak as f64 } else { 0.0 }
    };
    series.equity.iter().map(below).collect()
}

/// No fall is a drawdown of nothing; it takes two closes to have one.
fn depth(series: &Series, drawdown: Option<Drawdown>) -> Metric {
    let have = series.equity.len();
    if have < 2 {
        return Metric::Undefined(Undefined::TooFew { have, need: 2 });
    }
    Metric::finite(drawdown.map_or(0.0, |drawdown| drawdown.depth))
}

fn deepest(series: &Series, low: impl Fn(usize) -> Option<i64>) -> Option<Drawdown> {
    let mut found: Option<(Drawdown, i64, usize)> = None;
    let (mut peak, mut peak_ns) = (i64::MIN, 0);
    for (k, (&equity, &time_ns)) in series.equity.iter().zip(&series.time_ns).enumerate() {
        // The low of a bar is compared with peaks before it: within the bar the adverse move is taken to come first.
        if let Some(low) = low(k)
            && peak > 0
            && low < peak
        {
            let depth = (i128::from(peak) - i128::from(low)) as f64 / peak as f64;
            if found.is_none_or(|(deepest, ..)| depth > deepest.depth) {
                let drawdown = Drawdown { depth, start_ns: peak_ns, trough_ns: time_ns, recovery_ns: None };
                found = Some((drawdown, peak, k));
            }
        }
        if equity > peak {
            (peak, peak_ns) = (equity, time_ns);
        }
    }
    let (mut drawdown, peak, trough) = found?;
    // The trough's own bar may close above the peak again.
    let after = series.equity.iter().zip(&series.time_ns).skip(trough);
    drawdown.recovery_ns =
        after.into_iter().find(|&(&equity, _)| equity >= peak).map(|(_, &time_ns)| time_ns);
    Some(drawdown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    const DAY: i64 = 86_400_000_000_000;

    #[test]
    fn on_closes() {
        let series = daily(&[100, 120, 90, 110, 120, 130, 117]);
        let expected =
            Drawdown { depth: 0.25, start_ns: DAY, trough_ns: 2 * DAY, recovery_ns: Some(4 * DAY) };
        assert_eq!(drawdown_closes(&series), Some(expected));
        assert_eq!(max_drawdown_closes(&series), Metric::Value(0.25));
        assert_eq!(underwater(&series)[2], -0.25);
        assert_eq!(underwater(&series)[4], 0.0);
    }

    #[test]
    fn a_fall_in_the_first_bar_counts() {
        let series = daily(&[100, 60, 90]);
        let expected = Drawdown { depth: 0.4, start_ns: 0, trough_ns: DAY, recovery_ns: None };
        assert_eq!(drawdown_closes(&series), Some(expected));
    }

    #[test]
    fn on_worst_equity() {
        let mut series = daily(&[100, 120, 118, 125]);
        series.worst_equity = vec![100, 96, 60, 119];
        // Bar 2 fell from 120 to 60 within; bar 1 from 100 only, for its close came after.
        let expected = Drawdown { depth: 0.5, start_ns: DAY, trough_ns: 2 * DAY, recovery_ns: Some(3 * DAY) };
        assert_eq!(drawdown_worst(&series), Some(expected));
        // A bar that dips and closes above the peak has recovered in itself.
        series.worst_equity = vec![100, 50, 118, 119];
        let expected = Drawdown { depth: 0.5, start_ns: 0, trough_ns: DAY, recovery_ns: Some(DAY) };
        assert_eq!(drawdown_worst(&series), Some(expected));
        // Exit costs below the worst mark.
        series.worst_equity = vec![100, 120, 130, 130];
        assert_eq!(max_drawdown_worst(&series), Metric::Value(2.0 / 120.0));
    }

    #[test]
    fn none_and_more_than_all() {
        assert_eq!(drawdown_closes(&daily(&[1, 2, 2, 3])), None);
        assert_eq!(max_drawdown_closes(&daily(&[1, 2, 2, 3])), Metric::Value(0.0));
        assert_eq!(max_drawdown_closes(&daily(&[100, -50])), Metric::Value(1.5));
        let few = Undefined::TooFew { have: 1, need: 2 };
        assert_eq!(max_drawdown_worst(&daily(&[100])), Metric::Undefined(few));
    }
}
