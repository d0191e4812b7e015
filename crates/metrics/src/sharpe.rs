//! Sharpe ratio, per bar and per session day.

use crate::metric::{Metric, Undefined};
use crate::periods::{dpy, ppy};
use crate::series::Series;
use crate::volatility::mean_sd;

/// Mean over standard deviation (n − 1) of returns per bar, · √(bars per year), in excess of nothing.
///
/// Equal to QuantStats `sharpe` and empyrical `sharpe_ratio` with the same number of periods; left to themselves they
/// take 252 (365 for some) whatever the bars are. Serial correlation is not corrected for: compare with
/// [`sharpe_days`].
pub fn sharpe_bars(series: &Series) -> Metric {
    series.returns().and_then(|returns| sharpe(&returns, ppy(series)?)).into()
}

/// The same of returns per session day, · √(session days per year).
pub fn sharpe_days(series: &Series) -> Metric {
    series.day_returns().and_then(|returns| sharpe(&returns, dpy(series)?)).into()
}

/// The ratio of any returns, for [`over_time`](crate::over_time()).
pub fn sharpe_of(returns: &[f64], periods_per_year: f64) -> Metric {
    sharpe(returns, periods_per_year).into()
}

fn sharpe(returns: &[f64], periods_per_year: f64) -> Result<f64, Undefined> {
    let (mean, sd) = mean_sd(returns)?;
    // Equal returns may differ from their computed mean in the last bits.
    if sd <= 1e-14 * mean.abs() || sd == 0.0 {
        return Err(Undefined::NoVariation);
    }
    Ok(mean / sd * periods_per_year.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        // Returns 0.1, 0: mean 0.05, sd 0.1/√2; 0.05 / 0.0707 = 1/√2.
        let series = daily(&[100, 110, 110]);
        let expected = 0.5f64.sqrt() * 365f64.sqrt();
        assert!((sharpe_bars(&series).value().unwrap() - expected).abs() < 1e-13);
        assert!((sharpe_days(&series).value().unwrap() - expected).abs() < 1e-13);
    }

    #[test]
    fn days_are_not_bars() {
        let mut series = daily(&[100, 110, 110, 121, 110]);
        series.day = vec![0, 0, 0, 1, 1];
        // Days: 0.1 and 0, two of them in four days.
        let expected = 0.5f64.sqrt() * (2.0 * 365.0 / 4.0f64).sqrt();
        assert!((sharpe_days(&series).value().unwrap() - expected).abs() < 1e-13);
    }

    #[test]
    fn undefined() {
        let none = |equity: &[i64]| match sharpe_bars(&daily(equity)) {
            Metric::Undefined(reason) => reason,
            Metric::Value(value) => panic!("{value}"),
        };
        assert_eq!(none(&[100]), Undefined::TooFew { have: 0, need: 1 });
        assert_eq!(none(&[100, 101]), Undefined::TooFew { have: 1, need: 2 });
        assert_eq!(none(&[100, 100, 100]), Undefined::NoVariation);
        // Returns of exactly a tenth, which sum to a mean that is no tenth.
        assert_eq!(none(&[1_000, 1_100, 1_210, 1_331]), Undefined::NoVariation);
        assert_eq!(none(&[100, -5, 100]), Undefined::EquityNotPositive);
    }
}
