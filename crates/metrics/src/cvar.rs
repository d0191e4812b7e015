//! Conditional value at risk.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// Mean of the `ceil(n / 20)` worst returns per bar (5 %), as a return, so negative when it hurts. Undefined for fewer
/// than 20.
///
/// Equal to empyrical `conditional_value_at_risk` with cutoff 0.05. QuantStats `cvar` instead averages what lies beyond
/// the quantile of a fitted normal distribution.
pub fn cvar_bars(series: &Series) -> Metric {
    series.returns().and_then(worst_twentieth).into()
}

/// The same of returns per session day.
pub fn cvar_days(series: &Series) -> Metric {
    series.day_returns().and_then(worst_twentieth).into()
}

fn worst_twentieth(mut returns: Vec<f64>) -> Result<f64, Undefined> {
    let have = returns.len();
    if have < 20 {
        return Err(Undefined::TooFew { have, need: 20 });
    }
    returns.sort_by(f64::total_cmp);
    let worst = &returns[..have.div_ceil(20)];
    Ok(worst.iter().sum::<f64>() / worst.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        // One bar of −10 % among 20, then −50 % too: of 21 the two worst count.
        let mut equity = vec![1_000; 20];
        equity.push(900);
        assert_eq!(cvar_bars(&daily(&equity)), Metric::Value(-0.1));
        assert_eq!(cvar_days(&daily(&equity)), Metric::Value(-0.1));
        equity.push(450);
        assert!((cvar_bars(&daily(&equity)).value().unwrap() + 0.3).abs() < 1e-15);
        let few = Undefined::TooFew { have: 19, need: 20 };
        assert_eq!(cvar_bars(&daily(&equity[..20])), Metric::Undefined(few));
        equity.push(0);
        assert_eq!(cvar_bars(&daily(&equity)), Metric::Undefined(Undefined::EquityNotPositive));
    }
}
