//! What trading cost.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// Spread, impact, fees and financing together, as a share of the starting equity. The lines themselves are the
/// ledger's [`MemberAttribution`](foxhunt_ledger::MemberAttribution).
pub fn cost_share(series: &Series) -> Metric {
    match series.equity.first() {
        Some(&first) if first > 0 => Metric::finite(series.costs as f64 / first as f64),
        Some(_) => Metric::Undefined(Undefined::EquityNotPositive),
        None => Metric::Undefined(Undefined::TooFew { have: 0, need: 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn by_hand() {
        let mut series = daily(&[200, 100]);
        series.costs = 50;
        assert_eq!(cost_share(&series), Metric::Value(0.25));
        assert_eq!(cost_share(&daily(&[0])), Metric::Undefined(Undefined::EquityNotPositive));
        assert_eq!(cost_share(&daily(&[])), Metric::Undefined(Undefined::TooFew { have: 0, need: 1 }));
    }
}
