//! Ulcer index.

use crate::drawdown::underwater;
use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// Root of the mean square of the drawdown on closes (Martin 1987), over the closes after the opening row, as a share. How deep
/// and how long together; 0 if equity never fell.
///
/// Equal to QuantStats `ulcer_index` where that is shown the opening row: it divides by one less than what it is shown.
pub fn ulcer_index(series: &Series) -> Metric {
    index(series).into()
}

fn index(series: &Series) -> Result<f64, Undefined> {
    let bars = series.returns()?.len();
    let squares: f64 = underwater(series).iter().map(|below| below * below).sum();
    Ok((squares / bars as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        assert!(
            (ulcer_index(&daily(&[100, 90, 100, 100, 90])).value().unwrap() - 0.005f64.sqrt()).abs() < 1e-15
        );
        assert_eq!(ulcer_index(&daily(&[100, 101])), Metric::Value(0.0));
        assert_eq!(ulcer_index(&daily(&[100])), Metric::Undefined(Undefined::TooFew { have: 0, need: 1 }));
    }
}
