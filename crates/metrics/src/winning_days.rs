//! Share of days that gained.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// Session days with a gain over session days with a gain or a loss: days at exactly zero count on neither side.
///
/// Equal to QuantStats `win_rate` of day returns. [`win_rate`](crate::win_rate) is of round trips.
pub fn winning_days(series: &Series) -> Metric {
    series.day_returns().and_then(|returns| share(&returns)).into()
}

/// The same of any returns.
pub fn winning_share_of(returns: &[f64]) -> Metric {
    share(returns).into()
}

fn share(returns: &[f64]) -> Result<f64, Undefined> {
    let moved = returns.iter().filter(|&&r| r != 0.0).count();
    let won = returns.iter().filter(|&&r| r > 0.0).count();
    if moved == 0 { Err(Undefined::NoVariation) } else { Ok(won as f64 / moved as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(winning_share_of(&[0.1, 0.0, -0.1, 0.2, 0.3]), Metric::Value(0.75));
        assert_eq!(winning_share_of(&[0.0; 3]), Metric::Undefined(Undefined::NoVariation));
    }
}
