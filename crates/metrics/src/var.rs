//! Value at risk.

use crate::metric::{Metric, Undefined};
use crate::quantile::quantile;
use crate::series::Series;

/// The 5 % quantile of returns per session day, as a return, so negative when it hurts; from the sample, with no distribution
/// assumed. Undefined for fewer than 20.
///
/// Equal to empyrical `value_at_risk` with cutoff 0.05. QuantStats `var` takes the quantile of a fitted normal distribution.
pub fn var_days(series: &Series) -> Metric {
    series.day_returns().and_then(value_at_risk).into()
}

/// The same of any returns.
pub fn var_of(returns: &[f64]) -> Metric {
    value_at_risk(returns.to_vec()).into()
}

fn value_at_risk(mut returns: Vec<f64>) -> Result<f64, Undefined> {
    let have = returns.len();
    if have < 20 {
        return Err(Undefined::TooFew { have, need: 20 });
    }
    returns.sort_by(f64::total_cmp);
    Ok(quantile(&returns, 0.05))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 21 returns from −0.10 to 0.10: the second lowest is the 5 % quantile.
        let returns: Vec<f64> = (-10..=10).map(|k| f64::from(k) / 100.0).collect();
        assert_eq!(var_of(&returns), Metric::Value(-0.09));
        let few = Undefined::TooFew { have: 19, need: 20 };
        assert_eq!(var_of(&returns[..19]), Metric::Undefined(few));
    }
}
