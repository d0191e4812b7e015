//! Sortino ratio.

use crate::metric::{Metric, Undefined};
use crate::periods::ppy;
use crate::series::Series;

/// Mean return per bar over downside deviation `√(Σ min(r, 0)² / n)`, n counting all returns, · √(bars per year).
///
/// Sortino and Price (1994), target 0. Equal to QuantStats `sortino` and empyrical `sortino_ratio` with the same
/// number of periods. Some others divide by the number of negative returns only, which flatters the idle.
pub fn sortino(series: &Series) -> Metric {
    series.returns().and_then(|returns| ratio(&returns, ppy(series)?)).into()
}

/// The ratio of any returns, for [`over_time`](crate::over_time()).
pub fn sortino_of(returns: &[f64], periods_per_year: f64) -> Metric {
    ratio(returns, periods_per_year).into()
}

fn ratio(returns: &[f64], periods_per_year: f64) -> Result<f64, Undefined> {
    let have = returns.len();
    if have < 2 {
        return Err(Undefined::TooFew { have, need: 2 });
    }
    let mean = returns.iter().sum::<f64>() / have as f64;
    let downside = returns.iter().map(|r| r.min(0.0).powi(2)).sum::<f64>() / have as f64;
    if downside == 0.0 {
        return Err(Undefined::NoDownside);
    }
    Ok(mean / downside.sqrt() * periods_per_year.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        // Returns 0.3 and −0.1: mean 0.1, downside √(0.01/2); 0.1 / 0.0707 = √2.
        let value = sortino(&daily(&[100, 130, 117])).value().unwrap();
        assert!((value - 2f64.sqrt() * 365f64.sqrt()).abs() < 1e-12);
        assert_eq!(sortino(&daily(&[100, 130, 130])), Metric::Undefined(Undefined::NoDownside));
        assert_eq!(sortino(&daily(&[100, 90])), Metric::Undefined(Undefined::TooFew { have: 1, need: 2 }));
        assert_eq!(sortino(&daily(&[100, 0, 1])), Metric::Undefined(Undefined::EquityNotPositive));
    }
}
