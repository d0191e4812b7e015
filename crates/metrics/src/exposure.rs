//! How much was held, and how often.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// Share of bars that ended with a position.
pub fn exposure_share(series: &Series) -> Metric {
    let traded = series.notional.get(1..).unwrap_or(&[]);
    if traded.is_empty() {
        return Metric::Undefined(Undefined::TooFew { have: 0, need: 1 });
    }
    let held = traded.iter().filter(|&&notional| notional != 0).count();
    Metric::finite(held as f64 / traded.len() as f64)
}

/// Mean over bars of notional at the close over equity, long and short alike, flat bars included.
pub fn mean_leverage(series: &Series) -> Metric {
    let pairs = series.notional.iter().zip(&series.equity).skip(1);
    if series.equity.iter().any(|&e| e <= 0) {
        return Metric::Undefined(Undefined::EquityNotPositive);
    }
    let count = pairs.len();
    if count == 0 {
        return Metric::Undefined(Undefined::TooFew { have: 0, need: 1 });
    }
    let sum: f64 = pairs.map(|(&notional, &equity)| notional as f64 / equity as f64).sum();
    Metric::finite(sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        let mut series = daily(&[100, 100, 200, 100, 100]);
        series.notional = vec![0, 50, 100, 0, 100];
        assert_eq!(exposure_share(&series), Metric::Value(0.75));
        assert_eq!(mean_leverage(&series), Metric::Value(0.5));
        series.equity[1] = -1;
        assert_eq!(mean_leverage(&series), Metric::Undefined(Undefined::EquityNotPositive));
        let none = Metric::Undefined(Undefined::TooFew { have: 0, need: 1 });
        assert_eq!((exposure_share(&daily(&[1])), mean_leverage(&daily(&[1]))), (none, none));
    }
}
