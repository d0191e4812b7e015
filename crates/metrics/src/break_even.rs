//! Break-even cost.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// The cost per traded notional, in basis points of it, at which the gain would have been nothing: gain before spread,
/// impact and fees (but after financing) over traded notional. Negative if it lost even so. Taken at the same trades:
/// an agent that knew of other costs would have traded otherwise.
pub fn break_even_bp(series: &Series) -> Metric {
    if series.traded_notional == 0 {
        return Metric::Undefined(Undefined::NoTrades);
    }
    let before = series.gain() + series.costs - series.financing;
    Metric::finite(before as f64 / series.traded_notional as f64 * 1e4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        let mut series = daily(&[1_000, 1_010]);
        assert_eq!(break_even_bp(&series), Metric::Undefined(Undefined::NoTrades));
        (series.costs, series.financing, series.traded_notional) = (12, 2, 10_000);
        assert_eq!(break_even_bp(&series), Metric::Value(20.0));
    }
}
