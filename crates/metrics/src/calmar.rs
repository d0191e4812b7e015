//! Calmar ratio.

use crate::cagr::growth;
use crate::drawdown::drawdown_closes;
use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// CAGR over the deepest drawdown on closes, both of the whole series (Young's 1991 original took 36 months). Undefined
/// under 90 days and without a drawdown. Equal to empyrical `calmar_ratio` if that is given the counted periods.
pub fn calmar(series: &Series) -> Metric {
    ratio(series).into()
}

fn ratio(series: &Series) -> Result<f64, Undefined> {
    let growth = growth(series)?;
    let deepest = drawdown_closes(series).ok_or(Undefined::NoDrawdown)?;
    Ok(growth / deepest.depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        let mut equity = vec![100; 366];
        equity[10] = 80;
        equity[365] = 110;
        assert!((calmar(&daily(&equity)).value().unwrap() - 0.5).abs() < 1e-14);
        equity[10] = 100;
        assert_eq!(calmar(&daily(&equity)), Metric::Undefined(Undefined::NoDrawdown));
        let short = Undefined::TooShort { days: 2, need: 90 };
        assert_eq!(calmar(&daily(&[100, 90, 95])), Metric::Undefined(short));
    }
}
