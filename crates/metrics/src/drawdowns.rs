//! Every drawdown on closes, from its peak to its recovery.

use crate::drawdown::Drawdown;
use crate::metric::{Metric, Undefined};
use crate::periods::DAY_NS;
use crate::series::Series;

/// All drawdowns on closes, the deepest first (the earlier one of equals). Each begins at a highest close and ends at the first
/// close that reaches it again; they don't overlap. Depths equal those of QuantStats `drawdown_details`, which dates the
/// beginning at the first close below the peak and the end at the last one.
pub fn drawdowns(series: &Series) -> Vec<Drawdown> {
    let mut found: Vec<Drawdown> = Vec::new();
    let mut open: Option<Drawdown> = None;
    let (mut peak, mut peak_ns) = (i64::MIN, 0);
    for (&equity, &time_ns) in series.equity.iter().zip(&series.time_ns) {
        if equity >= peak {
            found.extend(open.take().map(|d| Drawdown { recovery_ns: Some(time_ns), ..d }));
            (peak, peak_ns) = (equity, time_ns);
        } else if peak > 0 {
            let depth = (i128::from(peak) - i128::from(equity)) as f64 / peak as f64;
            if open.is_none_or(|d| depth > d.depth) {
                open = Some(Drawdown { depth, start_ns: peak_ns, trough_ns: time_ns, recovery_ns: None });
            }
        }
    }
    found.extend(open);
    found.sort_by(|a, b| b.depth.total_cmp(&a.depth));
    found
}

/// The longest time on closes from a highest close to its recovery, or to the end of the series, in days. 0 if equity never
/// fell.
pub fn longest_drawdown_days(series: &Series) -> Metric {
    let (have, end) = (series.time_ns.len(), series.time_ns.last().copied());
    let Some(end) = end.filter(|_| have > 1) else {
        return Metric::Undefined(Undefined::TooFew { have, need: 2 });
    };
    let length = |d: &Drawdown| d.recovery_ns.unwrap_or(end) - d.start_ns;
    let longest = drawdowns(series).iter().map(length).max().unwrap_or(0);
    Metric::finite(longest as f64 / DAY_NS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawdown::drawdown_closes;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        let series = daily(&[100, 90, 100, 120, 60, 110, 120, 119, 108]);
        let found = drawdowns(&series);
        let days: Vec<_> = found
            .iter()
            .map(|d| (d.depth, d.start_ns / DAY_NS, d.recovery_ns.map(|ns| ns / DAY_NS)))
            .collect();
        assert_eq!(days, [(0.5, 3, Some(6)), (0.1, 0, Some(2)), (0.1, 6, None)]);
        assert_eq!(Some(found[0]), drawdown_closes(&series));
        assert_eq!(longest_drawdown_days(&series), Metric::Value(3.0));
        assert_eq!(longest_drawdown_days(&daily(&[1, 2])), Metric::Value(0.0));
        assert_eq!(
            longest_drawdown_days(&daily(&[1])),
            Metric::Undefined(Undefined::TooFew { have: 1, need: 2 })
        );
    }
}
