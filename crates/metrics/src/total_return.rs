//! Total return.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// `(last − first) / first` of equity, from exact differences, so defined after ruin too (below −1). Equal to
/// QuantStats `comp` and empyrical `cum_returns_final`, which compound returns instead.
pub fn total_return(series: &Series) -> Metric {
    let Some(&first) = series.equity.first() else {
        return Metric::Undefined(Undefined::TooFew { have: 0, need: 1 });
    };
    if first <= 0 {
        return Metric::Undefined(Undefined::EquityNotPositive);
    }
    Metric::finite(series.gain() as f64 / first as f64)
}

/// Compounded return of any returns, for [`over_time`](crate::over_time()).
pub fn total_return_of(returns: &[f64]) -> Metric {
    Metric::finite(returns.iter().fold(1.0, |wealth, r| wealth * (1.0 + r)) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        assert_eq!(total_return(&daily(&[200, 1, 250])), Metric::Value(0.25));
        assert_eq!(total_return(&daily(&[200, -100])), Metric::Value(-1.5));
        assert_eq!(total_return(&daily(&[200])), Metric::Value(0.0));
        assert_eq!(total_return(&daily(&[])), Metric::Undefined(Undefined::TooFew { have: 0, need: 1 }));
        assert!((total_return_of(&[0.1, -0.1]).value().unwrap() + 0.01).abs() < 1e-15);
    }
}
