//! Compound annual growth rate.

use crate::metric::{Metric, Undefined};
use crate::periods::{at_least_90_days, years};
use crate::series::Series;

/// `(last / first)^(1 / years) − 1` by elapsed time. Undefined under 90 days, for a week's luck to the power of 52 says
/// nothing.
///
/// Equal to empyrical `cagr` if that is given the counted periods. QuantStats counts 252 periods a year.
pub fn cagr(series: &Series) -> Metric {
    growth(series).into()
}

pub(crate) fn growth(series: &Series) -> Result<f64, Undefined> {
    if series.equity.iter().any(|&e| e <= 0) {
        return Err(Undefined::EquityNotPositive);
    }
    at_least_90_days(series)?;
    let (Some(&first), Some(&last)) = (series.equity.first(), series.equity.last()) else {
        return Err(Undefined::TooFew { have: 0, need: 2 });
    };
    Ok((last as f64 / first as f64).powf(1.0 / years(series)?) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        // 21 % in one year of 365 days, and in two.
        let mut equity = vec![100; 366];
        equity[365] = 121;
        assert!((cagr(&daily(&equity)).value().unwrap() - 0.21).abs() < 1e-15);
        let mut equity = vec![100; 731];
        equity[730] = 121;
        assert!((cagr(&daily(&equity)).value().unwrap() - 0.1).abs() < 1e-15);
    }

    #[test]
    fn undefined() {
        let ninety = daily(&[100; 91]);
        assert_eq!(cagr(&ninety), Metric::Value(0.0));
        let short = Undefined::TooShort { days: 89, need: 90 };
        assert_eq!(cagr(&daily(&[100; 90])), Metric::Undefined(short));
        let mut ruined = vec![100; 200];
        ruined[7] = 0;
        assert_eq!(cagr(&daily(&ruined)), Metric::Undefined(Undefined::EquityNotPositive));
    }
}
