//! Omega ratio.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// Sum of gains over sum of losses of returns per session day (Keating and Shadwick 2002, threshold 0). Undefined if no return
/// is negative.
///
/// Equal to empyrical `omega_ratio` at threshold 0 and to QuantStats `omega`; QuantStats `profit_factor` is the same
/// number, while ours is of round trips.
pub fn omega(series: &Series) -> Metric {
    series.day_returns().and_then(|returns| ratio(&returns)).into()
}

/// The same of any returns.
pub fn omega_of(returns: &[f64]) -> Metric {
    ratio(returns).into()
}

fn ratio(returns: &[f64]) -> Result<f64, Undefined> {
    let have = returns.len();
    if have < 2 {
        return Err(Undefined::TooFew { have, need: 2 });
    }
    let gains: f64 = returns.iter().map(|r| r.max(0.0)).sum();
    let losses: f64 = returns.iter().map(|r| -r.min(0.0)).sum();
    if losses == 0.0 { Err(Undefined::NoDownside) } else { Ok(gains / losses) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(omega_of(&[3.0, -1.0, 0.0, -1.0]), Metric::Value(1.5));
        assert_eq!(omega_of(&[3.0, 0.0]), Metric::Undefined(Undefined::NoDownside));
        assert_eq!(omega_of(&[3.0]), Metric::Undefined(Undefined::TooFew { have: 1, need: 2 }));
    }
}
