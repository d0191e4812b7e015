//! Turnover.

use crate::metric::{Metric, Undefined};
use crate::periods::years;
use crate::series::Series;

/// Traded notional, bought and sold alike, over mean equity, per year. 2 means that equity was traded twice a year, or
/// bought and sold once. Zero if nothing was traded.
pub fn turnover(series: &Series) -> Metric {
    per_year(series).into()
}

fn per_year(series: &Series) -> Result<f64, Undefined> {
    if series.equity.iter().any(|&e| e <= 0) {
        return Err(Undefined::EquityNotPositive);
    }
    let years = years(series)?;
    let sum: i128 = series.equity.iter().map(|&e| i128::from(e)).sum();
    let mean = sum as f64 / series.equity.len() as f64;
    Ok(series.traded_notional as f64 / mean / years)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        let mut series = daily(&[100; 74]);
        assert_eq!(turnover(&series), Metric::Value(0.0));
        series.traded_notional = 300;
        // Three times equity in a fifth of a year.
        assert_eq!(turnover(&series), Metric::Value(15.0));
        series.equity[3] = 0;
        assert_eq!(turnover(&series), Metric::Undefined(Undefined::EquityNotPositive));
        assert_eq!(turnover(&daily(&[])), Metric::Undefined(Undefined::TooFew { have: 0, need: 1 }));
    }
}
