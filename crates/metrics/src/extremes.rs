//! Best and worst day and month.

use crate::metric::{Metric, Undefined};
use crate::months::month_returns;
use crate::series::Series;

/// The highest return of a session day. Equal to QuantStats `best`.
pub fn best_day(series: &Series) -> Metric {
    extreme(series.day_returns(), f64::max)
}

/// The lowest return of a session day. Equal to QuantStats `worst`.
pub fn worst_day(series: &Series) -> Metric {
    extreme(series.day_returns(), f64::min)
}

/// The highest return of a calendar month. Equal to QuantStats `best` with aggregate `ME`. Undefined under two months.
pub fn best_month(series: &Series) -> Metric {
    extreme(of_months(series), f64::max)
}

/// The lowest return of a calendar month. Equal to QuantStats `worst` with aggregate `ME`. Undefined under two months.
pub fn worst_month(series: &Series) -> Metric {
    extreme(of_months(series), f64::min)
}

fn of_months(series: &Series) -> Result<Vec<f64>, Undefined> {
    let months = month_returns(series)?;
    match months.len() {
        have @ ..2 => Err(Undefined::TooFew { have, need: 2 }),
        _ => Ok(months.into_iter().map(|month| month.value).collect()),
    }
}

fn extreme(returns: Result<Vec<f64>, Undefined>, of: fn(f64, f64) -> f64) -> Metric {
    let found = returns.map(|returns| returns.into_iter().reduce(of));
    found.and_then(|found| found.ok_or(Undefined::TooFew { have: 0, need: 1 })).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        let mut series = daily(&[100, 110, 99, 198]);
        assert_eq!((best_day(&series), worst_day(&series)), (Metric::Value(1.0), Metric::Value(-0.1)));
        let few = Metric::Undefined(Undefined::TooFew { have: 1, need: 2 });
        assert_eq!((best_month(&series), worst_month(&series)), (few, few));
        // 31 January 1970, then February.
        series.day = vec![28, 29, 30, 31];
        assert_eq!(best_month(&series), Metric::Value(1.0));
        assert!((worst_month(&series).value().unwrap() + 0.01).abs() < 1e-15);
    }
}
