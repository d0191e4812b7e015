//! Payoff ratio.

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// Mean gain of the round trips that won over mean loss of those that lost, both net. Undefined if none lost.
///
/// QuantStats `payoff_ratio` is of winning and losing returns.
pub fn payoff_ratio(series: &Series) -> Metric {
    ratio(series).into()
}

fn ratio(series: &Series) -> Result<f64, Undefined> {
    if series.trips.is_empty() {
        return Err(Undefined::NoRoundTrips);
    }
    let mean = |sign: i128| {
        let nets = series.trips.iter().map(|trip| trip.net * sign).filter(|&net| net > 0);
        let (sum, count) = nets.fold((0i128, 0usize), |(sum, count), net| (sum + net, count + 1));
        if count == 0 { 0.0 } else { sum as f64 / count as f64 }
    };
    let loss = mean(-1);
    if loss == 0.0 { Err(Undefined::NoLosingTrips) } else { Ok(mean(1) / loss) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trips::RoundTrip;
    use foxhunt_ledger::Leg;

    #[test]
    fn by_hand() {
        let trip = |net| RoundTrip {
            start_ns: 0,
            end_ns: 0,
            bars: 0,
            long: true,
            lots_max: 1,
            net,
            fees: 0,
            financing: 0,
            closed_by: Leg::Open,
        };
        let of = |nets: &[i128]| {
            payoff_ratio(&Series { trips: nets.iter().map(|&net| trip(net)).collect(), ..Series::default() })
        };
        assert_eq!(of(&[30, -10, 50, 0]), Metric::Value(4.0));
        assert_eq!(of(&[-10]), Metric::Value(0.0));
        assert_eq!(of(&[5, 0]), Metric::Undefined(Undefined::NoLosingTrips));
        assert_eq!(of(&[]), Metric::Undefined(Undefined::NoRoundTrips));
    }
}
