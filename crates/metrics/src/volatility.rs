//! Volatility.

use crate::metric::{Metric, Undefined};
use crate::periods::ppy;
use crate::series::Series;

/// Standard deviation (n − 1) of returns per bar · √(bars per year). Equal to QuantStats and empyrical once they are
/// given the same number of periods.
pub fn volatility(series: &Series) -> Metric {
    volatility_result(series).into()
}

fn volatility_result(series: &Series) -> Result<f64, Undefined> {
    let (_, sd) = mean_sd(&series.returns()?)?;
    Ok(sd * ppy(series)?.sqrt())
}

/// Mean and standard deviation (n − 1).
pub(crate) fn mean_sd(values: &[f64]) -> Result<(f64, f64), Undefined> {
    let have = values.len();
    if have < 2 {
        return Err(Undefined::TooFew { have, need: 2 });
    }
    let mean = values.iter().sum::<f64>() / have as f64;
    let square = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    Ok((mean, (square / (have - 1) as f64).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        // Returns 0.1 and −0.1: sd 0.1·√2, and 365 periods a year.
        let value = volatility(&daily(&[100, 110, 99])).value().unwrap();
        assert!((value - 0.02f64.sqrt() * 365f64.sqrt()).abs() < 1e-15);
        assert_eq!(volatility(&daily(&[5, 5, 5])), Metric::Value(0.0));
        assert_eq!(volatility(&daily(&[5, 6])), Metric::Undefined(Undefined::TooFew { have: 1, need: 2 }));
    }
}
