//! Tail ratio.

use crate::metric::{Metric, Undefined};
use crate::quantile::quantile;
use crate::series::Series;

/// The 95 % quantile over the 5 % quantile of returns per session day, without signs: above 1 where large gains are larger
/// than large losses. Undefined for fewer than 20, and where the lower quantile is 0.
///
/// Equal to QuantStats and empyrical `tail_ratio`.
pub fn tail_ratio(series: &Series) -> Metric {
    series.day_returns().and_then(ratio).into()
}

/// The same of any returns.
pub fn tail_ratio_of(returns: &[f64]) -> Metric {
    ratio(returns.to_vec()).into()
}

fn ratio(mut returns: Vec<f64>) -> Result<f64, Undefined> {
    let have = returns.len();
    if have < 20 {
        return Err(Undefined::TooFew { have, need: 20 });
    }
    returns.sort_by(f64::total_cmp);
    let low = quantile(&returns, 0.05).abs();
    if low == 0.0 { Err(Undefined::NoDownside) } else { Ok(quantile(&returns, 0.95).abs() / low) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let returns: Vec<f64> = (-5..=15).map(f64::from).collect();
        assert_eq!(tail_ratio_of(&returns), Metric::Value(3.5));
        assert_eq!(tail_ratio_of(&[0.0; 20]), Metric::Undefined(Undefined::NoDownside));
        assert_eq!(tail_ratio_of(&[0.0; 4]), Metric::Undefined(Undefined::TooFew { have: 4, need: 20 }));
    }
}
