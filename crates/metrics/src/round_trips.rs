//! Round trips: from flat (or a flip) to flat (or a flip), and what is counted of them.
//!
//! Resizing a position is no trade of its own; a trip gathers every fill between its two ends. QuantStats and many
//! others count winning and losing *bars* under the names win rate and profit factor.

use foxhunt_ledger::{BarRow, FillReason, FillRow, Leg};

use crate::metric::{Metric, Undefined};
use crate::series::Series;

/// One completed round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Close of the bar in which the position was opened, ns UTC.
    pub start_ns: i64,
    /// Close of the bar in which it was closed, ns UTC.
    pub end_ns: i64,
    /// Bars from the one to the other; 0 within one bar.
    pub bars: u32,
    /// True for a long position.
    pub long: bool,
    /// Largest position held, lots, positive.
    pub lots_max: i64,
    /// Gain net of fees and financing, money units.
    pub net: i128,
    /// Fees, money units.
    pub fees: i128,
    /// Financing, money units.
    pub financing: i128,
    /// The leg that closed it.
    pub closed_by: Leg,
}

/// A trip under way.
struct Open {
    trip: RoundTrip,
    start_bar: u32,
    position: i64,
}

/// The completed round trips, in order of their end.
pub fn round_trips(series: &Series) -> &[RoundTrip] {
    &series.trips
}

/// Number of completed round trips.
pub fn trip_count(series: &Series) -> Metric {
    Metric::finite(series.trips.len() as f64)
}

/// Share of round trips that gained, net of fees and financing.
pub fn win_rate(series: &Series) -> Metric {
    mean(series, |trip| f64::from(u8::from(trip.net > 0)))
}

/// Sum of gains over sum of losses of round trips, both net. Undefined if none lost.
pub fn profit_factor(series: &Series) -> Metric {
    if series.trips.is_empty() {
        return Metric::Undefined(Undefined::NoRoundTrips);
    }
    let gains: i128 = series.trips.iter().map(|trip| trip.net.max(0)).sum();
    let losses: i128 = series.trips.iter().map(|trip| -trip.net.min(0)).sum();
    if losses == 0 {
        return Metric::Undefined(Undefined::NoLosingTrips);
    }
    Metric::finite(gains as f64 / losses as f64)
}

/// Mean net gain of a round trip, money units.
pub fn mean_trip(series: &Series) -> Metric {
    mean(series, |trip| trip.net as f64)
}

/// Mean bars from opening to closing.
pub fn mean_holding_bars(series: &Series) -> Metric {
    mean(series, |trip| f64::from(trip.bars))
}

/// Mean hours from opening to closing, nights and weekends included; bars are the finest that time is known to.
pub fn mean_holding_hours(series: &Series) -> Metric {
    mean(series, |trip| trip.end_ns.saturating_sub(trip.start_ns) as f64 / 3.6e12)
}

fn mean(series: &Series, of: impl Fn(&RoundTrip) -> f64) -> Metric {
    if series.trips.is_empty() {
        return Metric::Undefined(Undefined::NoRoundTrips);
    }
    Metric::finite(series.trips.iter().map(of).sum::<f64>() / series.trips.len() as f64)
}

/// Gathers the trips of one member. `rows` begins with the opening row.
///
/// Financing of a bar is one number for a gap before it and the bar itself; it goes to the position held after the
/// fills at the open (it was charged the bar), or if that is flat to the one closed there. So the nets of all trips,
/// and of one still open, sum to the gain in equity.
pub(crate) fn collect(rows: &[BarRow], mut fills: &[FillRow], tv: i64) -> Vec<RoundTrip> {
    let mut done = Vec::new();
    let mut open: Option<Open> = None;
    for pair in rows.windows(2) {
        let row = &pair[1];
        let (of_bar, rest) = fills.split_at(fills.iter().take_while(|fill| fill.bar <= row.bar).count());
        fills = rest;
        let at_open = of_bar.iter().take_while(|fill| at_the_open(fill)).count();
        for fill in &of_bar[..at_open] {
            book(fill, row, tv, &mut open, &mut done);
        }
        let financing = i128::from(row.financing) - i128::from(pair[0].financing);
        if let Some(trip) = open.as_mut().map(|open| &mut open.trip).or(done.last_mut()) {
            trip.financing += financing;
            trip.net -= financing;
        }
        for fill in &of_bar[at_open..] {
            book(fill, row, tv, &mut open, &mut done);
        }
    }
    done
}

/// True for what fills before the bar's own financing is charged.
fn at_the_open(fill: &FillRow) -> bool {
    match fill.reason {
        FillReason::StopAtOpen | FillReason::LiquidationAtOpen => true,
        FillReason::Order => fill.leg == Leg::Open,
        FillReason::StopInBar
        | FillReason::LiquidationInBar
        | FillReason::EndOfTest
        | FillReason::SessionClose => false,
    }
}

fn book(fill: &FillRow, row: &BarRow, tv: i64, open: &mut Option<Open>, done: &mut Vec<RoundTrip>) {
    let lots = i64::from(fill.lots);
    let current = open.get_or_insert_with(|| Open {
        trip: RoundTrip {
            start_ns: row.time_ns,
            end_ns: row.time_ns,
            bars: 0,
            long: lots > 0,
            lots_max: 0,
            net: 0,
            fees: 0,
            financing: 0,
            closed_by: fill.leg,
        },
        start_bar: row.bar,
        position: 0,
    });
    current.position += lots;
    let trip = &mut current.trip;
    // Cash flow: once flat again, what came in less what went out is the gain.
    trip.net -= i128::from(lots) * i128::from(fill.price) * i128::from(tv) + i128::from(fill.fee);
    trip.fees += i128::from(fill.fee);
    trip.lots_max = trip.lots_max.max(current.position.abs());
    if current.position == 0 {
        trip.end_ns = row.time_ns;
        trip.bars = row.bar.saturating_sub(current.start_bar);
        trip.closed_by = fill.leg;
        done.push(*trip);
        *open = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;
    use foxhunt_ledger::{reconcile, synth::Synth};

    fn with(nets: &[i128]) -> Series {
        let trip = RoundTrip {
            start_ns: 0,
            end_ns: 7_200_000_000_000,
            bars: 2,
            long: true,
            lots_max: 1,
            net: 0,
            fees: 0,
            financing: 0,
            closed_by: Leg::Open,
        };
        Series { trips: nets.iter().map(|&net| RoundTrip { net, ..trip }).collect(), ..daily(&[100, 100]) }
    }

    #[test]
    fn statistics_by_hand() {
        let series = with(&[30, -10, 0, 20]);
        assert_eq!(trip_count(&series), Metric::Value(4.0));
        // A trip that comes out even is no win.
        assert_eq!(win_rate(&series), Metric::Value(0.5));
        assert_eq!(profit_factor(&series), Metric::Value(5.0));
        assert_eq!(mean_trip(&series), Metric::Value(10.0));
        assert_eq!(mean_holding_bars(&series), Metric::Value(2.0));
        assert_eq!(mean_holding_hours(&series), Metric::Value(2.0));
        assert_eq!(profit_factor(&with(&[3, 0])), Metric::Undefined(Undefined::NoLosingTrips));
        let none = Metric::Undefined(Undefined::NoRoundTrips);
        let empty = with(&[]);
        assert_eq!(trip_count(&empty), Metric::Value(0.0));
        for metric in [win_rate, profit_factor, mean_trip, mean_holding_bars, mean_holding_hours] {
            assert_eq!(metric(&empty), none);
        }
    }

    /// Buy 2, buy 1 more, sell 1, flip to short 2, cover: two trips, not five.
    #[test]
    fn resizing_is_no_trip_and_a_flip_is_two() {
        let ledger = Synth { bars: 5, members: 1, ..Synth::default() }.ledger();
        let mut rows = ledger.bars.clone();
        for (k, row) in rows.iter_mut().enumerate() {
            row.bar = k as u32;
            row.financing = 3 * k as i64;
        }
        let fill = |bar, lots, price, leg| FillRow {
            member: 0,
            bar,
            leg,
            lots,
            price,
            reference_x4: 0,
            decision_close: 0,
            half_spread: 0,
            impact_x4: 0,
            fee: 1,
            reason: FillReason::Order,
            quoted_x4: 0,
        };
        let fills = [
            fill(1, 2, 100, Leg::Open),
            fill(2, 1, 103, Leg::Maker),
            fill(3, -1, 110, Leg::Open),
            fill(4, -2, 111, Leg::Open),
            fill(4, -2, 111, Leg::Open),
            fill(5, 2, 101, Leg::Twap),
        ];
        let trips = collect(&rows, &fills, 10);
        let (first, second) = (trips[0], trips[1]);
        assert_eq!(trips.len(), 2);
        // The fault: a trip for each fill that makes the position smaller.
        let mut position = 0_i32;
        let reduces = |fill: &&FillRow| {
            let before = position;
            position += fill.lots;
            position.abs() < before.abs()
        };
        assert_eq!(fills.iter().filter(reduces).count(), 3);
        // (−200 − 103 + 110 + 222) · 10 = 290, less 4 fees and financing of bars 1 to 3.
        assert_eq!((first.net, first.fees, first.financing), (290 - 4 - 9, 4, 9));
        assert_eq!((first.bars, first.long, first.lots_max), (3, true, 3));
        // (222 − 202) · 10 = 200, less 2 fees and financing of bars 4 and 5.
        assert_eq!((second.net, second.fees, second.financing), (200 - 2 - 6, 2, 6));
        assert_eq!((second.bars, second.long, second.closed_by), (1, false, Leg::Twap));
    }

    /// The nets of all trips sum to the gain in equity, to the unit.
    #[test]
    fn nothing_is_lost_between_trips() {
        let stormy = Synth {
            seed: 2,
            max_leverage_e4: 300_000,
            volatility_bp: 60.0,
            stop_sd: 0.0,
            ..Synth::default()
        };
        let mut trips = 0;
        for synth in [Synth::default(), stormy] {
            let ledger = synth.ledger();
            for lines in &reconcile(&ledger).unwrap().members {
                let series = Series::new(&ledger, lines);
                trips += series.trips.len();
                // Ruin may end a backtest with a position still open.
                if series.open_at_end {
                    continue;
                }
                assert_eq!(series.trips.iter().map(|trip| trip.net).sum::<i128>(), series.gain());
                assert_eq!(series.trips.iter().map(|trip| trip.fees).sum::<i128>(), lines.fees);
                assert_eq!(series.trips.iter().map(|trip| trip.financing).sum::<i128>(), lines.financing);
            }
        }
        assert!(trips > 100, "{trips}");
    }
}
