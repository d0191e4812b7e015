//! What metrics are computed from: one member's way through a ledger.

use foxhunt_ledger::{BarRow, Combined, FillRow, Ledger, MemberAttribution};

use crate::metric::Undefined;
use crate::round_trips::{RoundTrip, collect};

/// One member's accounts in time, and what its trading came to. The first entry of each list is the opening row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Bar closes, ns UTC, rising.
    pub time_ns: Vec<i64>,
    /// The trading session of each bar, never falling.
    pub day: Vec<i32>,
    /// Equity at the close, money units.
    pub equity: Vec<i64>,
    /// Equity at the worst moment of the bar, money units.
    pub worst_equity: Vec<i64>,
    /// Notional of the position at the close, money units, never negative.
    pub notional: Vec<i128>,
    /// Completed round trips, in order of their end.
    pub trips: Vec<RoundTrip>,
    /// True if a position was still open on the last row; its trip is not among `trips`.
    pub open_at_end: bool,
    /// Σ|x|·P·tv of all fills, money units.
    pub traded_notional: i128,
    /// Number of fills.
    pub fills: usize,
    /// Spread, impact, fees and financing, money units.
    pub costs: i128,
    /// Financing alone, money units.
    pub financing: i128,
    /// Configurations that were compared before this one was chosen; 0 counts as 1.
    pub trials: u32,
}

impl Series {
    /// The series of one member. `lines` is that member's part of what [`foxhunt_ledger::reconcile`] returned, so that
    /// no metric is ever computed from a ledger that does not add up.
    pub fn new(ledger: &Ledger, lines: &MemberAttribution) -> Self {
        let rows = ledger.bars_of(lines.member);
        let fills = ledger.fills_of(lines.member);
        let tv = i128::from(ledger.header.tv);
        let notional = |row: &BarRow| i128::from(row.position.unsigned_abs()) * i128::from(row.close) * tv;
        let traded = |fill: &FillRow| i128::from(fill.lots.unsigned_abs()) * i128::from(fill.price) * tv;
        Self {
            time_ns: rows.iter().map(|row| row.time_ns).collect(),
            day: rows.iter().map(|row| row.day).collect(),
            equity: rows.iter().map(|row| row.equity).collect(),
            worst_equity: rows.iter().map(|row| row.worst_equity).collect(),
            notional: rows.iter().map(notional).collect(),
            trips: collect(rows, fills, ledger.header.tv),
            open_at_end: rows.last().is_some_and(|row| row.position != 0),
            traded_notional: fills.iter().map(traded).sum(),
            fills: fills.len(),
            costs: lines.spread + lines.impact + lines.fees + lines.financing,
            financing: lines.financing,
            trials: ledger.header.trials,
        }
    }

    /// The series of a sum of accounts; `ledgers` are its parts', in their order, and `trials` what stood behind their choice.
    ///
    /// Trips are those of all parts, in order of their end. A bar is a time at which a bar of any part ends.
    pub fn combined(sum: &Combined, ledgers: &[&Ledger], trials: u32) -> Self {
        let mut trips = Vec::new();
        let (mut open_at_end, mut traded_notional, mut fills) = (false, 0, 0);
        for ((ledger, lines), scale) in ledgers.iter().zip(&sum.parts).zip(&sum.scales) {
            let (part, scale) = (Series::new(ledger, lines), i128::from(*scale));
            trips.extend(part.trips.into_iter().map(|trip| RoundTrip {
                net: trip.net * scale,
                fees: trip.fees * scale,
                financing: trip.financing * scale,
                ..trip
            }));
            open_at_end |= part.open_at_end;
            traded_notional += part.traded_notional * scale;
            fills += part.fills;
        }
        trips.sort_by_key(|trip| trip.end_ns);
        let (rows, lines) = (&sum.rows, &sum.lines);
        Self {
            time_ns: rows.iter().map(|row| row.time_ns).collect(),
            day: rows.iter().map(|row| row.day).collect(),
            equity: rows.iter().map(|row| row.equity).collect(),
            worst_equity: rows.iter().map(|row| row.worst_equity).collect(),
            notional: rows.iter().map(|row| row.notional).collect(),
            trips,
            open_at_end,
            traded_notional,
            fills,
            costs: lines.spread + lines.impact + lines.fees + lines.financing,
            financing: lines.financing,
            trials,
        }
    }

    /// Simple returns per bar, `(E1 − E0) / E0` with the difference taken exactly.
    ///
    /// # Errors
    ///
    /// [`Undefined::EquityNotPositive`] once equity is zero or less anywhere, [`Undefined::TooFew`] without a bar.
    pub fn returns(&self) -> Result<Vec<f64>, Undefined> {
        returns_of(&self.equity)
    }

    /// Simple returns per session day, from the last equity of each day; the first day starts at the opening row.
    /// Days at the ends may be partial.
    ///
    /// # Errors
    ///
    /// As [`returns`](Self::returns).
    pub fn day_returns(&self) -> Result<Vec<f64>, Undefined> {
        // A day of ruin within which equity recovered is still ruin.
        returns_of(&self.equity)?;
        returns_of(&self.day_equity())
    }

    /// Equity at the opening row and at the last row of each day.
    fn day_equity(&self) -> Vec<i64> {
        let mut closes: Vec<i64> = self.equity.first().copied().into_iter().collect();
        let traded = self.day.iter().zip(&self.equity).skip(1);
        let mut previous = None;
        for (&day, &equity) in traded {
            match closes.last_mut() {
                Some(last) if previous == Some(day) => *last = equity,
                _ => closes.push(equity),
            }
            previous = Some(day);
        }
        closes
    }

    /// The last bar of each session day, ns UTC: one for each return of [`day_returns`](Self::day_returns).
    pub fn day_ends_ns(&self) -> Vec<i64> {
        let rows: Vec<(i32, i64)> =
            self.day.iter().copied().zip(self.time_ns.iter().copied()).skip(1).collect();
        rows.chunk_by(|a, b| a.0 == b.0).filter_map(|day| day.last()).map(|&(_, ns)| ns).collect()
    }

    /// Equity gained from the opening row to the last, money units.
    pub fn gain(&self) -> i128 {
        match (self.equity.first(), self.equity.last()) {
            (Some(&first), Some(&last)) => i128::from(last) - i128::from(first),
            _ => 0,
        }
    }
}

fn returns_of(equity: &[i64]) -> Result<Vec<f64>, Undefined> {
    if equity.iter().any(|&e| e <= 0) {
        return Err(Undefined::EquityNotPositive);
    }
    if equity.len() < 2 {
        return Err(Undefined::TooFew { have: 0, need: 1 });
    }
    Ok(equity.windows(2).map(|w| (w[1] - w[0]) as f64 / w[0] as f64).collect())
}

/// A series with these equities, one bar a day apart, for tests of single metrics.
#[cfg(test)]
pub(crate) fn daily(equity: &[i64]) -> Series {
    const DAY_NS: i64 = 86_400_000_000_000;
    let count = i64::try_from(equity.len()).unwrap();
    Series {
        time_ns: (0..count).map(|k| k * DAY_NS).collect(),
        day: (0..count).map(|k| k as i32).collect(),
        equity: equity.to_vec(),
        worst_equity: equity.to_vec(),
        notional: vec![0; equity.len()],
        ..Series::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_are_exact_differences() {
        assert_eq!(daily(&[100, 110, 99]).returns().unwrap(), [0.1, -0.1]);
        // 2^53 + 1 is no f64; its difference to 2^53 is.
        let big = 1i64 << 53;
        assert_eq!(daily(&[big, big + 1]).returns().unwrap(), [1.0 / big as f64]);
        assert_eq!(daily(&[100, 0, 50]).returns(), Err(Undefined::EquityNotPositive));
        assert_eq!(daily(&[100]).returns(), Err(Undefined::TooFew { have: 0, need: 1 }));
        assert_eq!(daily(&[]).returns(), Err(Undefined::TooFew { have: 0, need: 1 }));
    }

    /// An account and its copy are twice the account: every ratio is the same, every amount is doubled.
    #[test]
    fn an_account_twice_is_twice_the_account() {
        use foxhunt_ledger::{combine, reconcile, synth::Synth};
        let ledger = Synth { bars: 1_000, members: 2, ..Synth::default() }.ledger();
        let lines = reconcile(&ledger).unwrap().members[1];
        let one = Series::new(&ledger, &lines);
        let sum = combine(&[(&ledger, lines), (&ledger, lines)]).unwrap();
        let two = Series::combined(&sum, &[&ledger, &ledger], 7);
        assert_eq!((two.returns(), two.day_returns()), (one.returns(), one.day_returns()));
        assert_eq!((two.trips.len(), two.fills, two.trials), (2 * one.trips.len(), 2 * one.fills, 7));
        assert_eq!(
            (two.costs, two.gain(), two.traded_notional),
            (2 * one.costs, 2 * one.gain(), 2 * one.traded_notional)
        );
        assert_eq!(crate::turnover(&two), crate::turnover(&one));
        assert_eq!(crate::max_drawdown_worst(&two), crate::max_drawdown_worst(&one));
        assert_eq!(crate::mean_leverage(&two), crate::mean_leverage(&one));
        assert_eq!(crate::mean_trip(&two), crate::mean_trip(&one));
    }

    #[test]
    fn days_end_at_their_last_bar() {
        let mut series = daily(&[100, 101, 102, 104, 110, 121]);
        // The opening row belongs to the first day, which is no day of its own.
        series.day = vec![5, 5, 5, 6, 6, 9];
        assert_eq!(series.day_returns().unwrap(), [0.02, 8.0 / 102.0, 0.1]);
        series.day = vec![4, 5, 5, 6, 6, 9];
        assert_eq!(series.day_returns().unwrap(), [0.02, 8.0 / 102.0, 0.1]);
        series.equity[2] = -1;
        assert_eq!(series.day_returns(), Err(Undefined::EquityNotPositive));
    }
}
