//! Sharpe ratio over a moving window of days.

use crate::metric::Undefined;
use crate::periods::dpy;
use crate::series::Series;
use crate::sharpe::sharpe_of;

/// For each session day from the `window`-th on, its last bar (ns UTC) and the Sharpe ratio of the last `window` day returns,
/// · √(session days per year of the whole series). A window whose returns are all equal has none and is left out.
///
/// Equal to QuantStats `rolling_sharpe` of day returns with the same number of periods.
///
/// # Errors
///
/// As [`Series::day_returns`], and [`Undefined::TooFew`] if there are fewer days than a window holds.
pub fn rolling_sharpe(series: &Series, window: usize) -> Result<Vec<(i64, f64)>, Undefined> {
    let returns = series.day_returns()?;
    let per_year = dpy(series)?;
    let need = window.max(2);
    if returns.len() < need {
        return Err(Undefined::TooFew { have: returns.len(), need });
    }
    let ends = series.day_ends_ns();
    let windows = returns.windows(need).zip(ends.iter().skip(need - 1));
    Ok(windows.filter_map(|(of, &ns)| Some((ns, sharpe_of(of, per_year).value()?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        let series = daily(&[100, 110, 110, 110, 121]);
        let found = rolling_sharpe(&series, 2).unwrap();
        let day = 86_400_000_000_000;
        // Returns 0.1, 0, 0, 0.1: the middle window does not vary.
        assert_eq!(found.iter().map(|p| p.0 / day).collect::<Vec<_>>(), [2, 4]);
        let expected = 0.5f64.sqrt() * 365f64.sqrt();
        assert!(found.iter().all(|p| (p.1 - expected).abs() < 1e-12));
        assert_eq!(rolling_sharpe(&series, 5), Err(Undefined::TooFew { have: 4, need: 5 }));
    }
}
