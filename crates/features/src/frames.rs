//! Bars of a higher timeframe, of which each row sees those alone that have ended by its close.

use crate::{series::Series, set::Timeframe};

const DAY_S: i64 = 86_400;
/// Days from 1970-01-01 (a Thursday) to a Monday.
const MONDAY_SHIFT: i64 = 3;

/// Ended bars of a higher timeframe.
///
/// A bar covers what closes within its span of the session clock. It has ended at the close of the first row that reaches the
/// span's end: its own last row where that closes at the very end, else the first row after it (after a night, a weekend, a
/// gap). The file may begin within the first span, which is left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    /// Highest high of each bar.
    pub(crate) high: Vec<f64>,
    /// Lowest low.
    pub(crate) low: Vec<f64>,
    /// Last close.
    pub(crate) close: Vec<f64>,
    /// Bars that have ended by the close of each row: T counts.
    ended: Vec<usize>,
}

/// Which span of `frame` a moment of the session clock lies in.
fn span(frame: Timeframe, clock_s: i64) -> i64 {
    match frame {
        Timeframe::Bar | Timeframe::FourHours => clock_s.div_euclid(4 * 3_600),
        Timeframe::Day => clock_s.div_euclid(DAY_S),
        Timeframe::Week => (clock_s.div_euclid(DAY_S) + MONDAY_SHIFT).div_euclid(7),
    }
}

impl Frames {
    pub(crate) fn of(s: &Series, frame: Timeframe) -> Self {
        let mut out = Frames { ended: Vec::with_capacity(s.len()), ..Frames::default() };
        // The span that is open, and what it holds so far; nothing of the first one.
        let mut open: Option<(i64, [f64; 3])> = None;
        let first = s.clock.first().map_or(0, |c| span(frame, c.inside_s));
        for (t, clock) in s.clock.iter().enumerate() {
            let (inside, after) = (span(frame, clock.inside_s), span(frame, clock.close_s));
            if let Some((own, values)) = open.take() {
                let [high, low, _] = values;
                if own == inside {
                    open = Some((own, [s.high[t].max(high), s.low[t].min(low), s.close[t]]));
                } else {
                    out.end(own, first, values);
                }
            }
            let (own, values) = open.take().unwrap_or((inside, [s.high[t], s.low[t], s.close[t]]));
            if after > own {
                out.end(own, first, values);
            } else {
                open = Some((own, values));
            }
            out.ended.push(out.close.len());
        }
        out
    }

    fn end(&mut self, span: i64, first: i64, [high, low, close]: [f64; 3]) {
        if span > first {
            self.high.push(high);
            self.low.push(low);
            self.close.push(close);
        }
    }

    /// A column of T rows: `value` of the row and the newest bar that has ended by its close; NaN before there is one.
    pub(crate) fn rows(&self, value: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let at = |(t, &ended): (usize, &usize)| ended.checked_sub(1).map_or(f64::NAN, |bar| value(t, bar));
        self.ended.iter().enumerate().map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foxhunt_data::{Bars, parse_moment, sample};

    fn ended(bars: &Bars, frame: Timeframe) -> Frames {
        Frames::of(&Series::from_bars(bars).unwrap(), frame)
    }

    /// The row that closes at a moment of 2017.
    fn row(bars: &Bars, close: &str) -> usize {
        let ns = parse_moment(&format!("2017-{close}:00:00Z")).unwrap();
        bars.close_ns.iter().position(|c| *c == ns).unwrap()
    }

    /// The sample is hourly from Sunday 2017-01-01 22:00 UTC, 17:00 in New York, where its days and weeks begin.
    #[test]
    fn a_bar_is_known_at_the_close_of_the_row_that_reaches_its_end() {
        let bars = sample().slice(0..600);
        let known = |frame, close: &str| ended(&bars, frame).ended[row(&bars, close)];
        // The first span is left out, so that the first to be known is that from 02:00 to 06:00 UTC.
        let first = known(Timeframe::FourHours, "01-03T06");
        assert_eq!(known(Timeframe::FourHours, "01-03T05") + 1, first);
        assert_eq!(known(Timeframe::FourHours, "01-03T09"), first);
        // A day ends with the row that closes at 22:00 UTC.
        let day = known(Timeframe::Day, "01-10T22");
        assert_eq!((known(Timeframe::Day, "01-10T21") + 1, known(Timeframe::Day, "01-11T21")), (day, day));
        // The week of 2 to 8 January is the first; that of 9 to 15 January is known with the first row after the weekend.
        assert_eq!((known(Timeframe::Week, "01-13T22"), known(Timeframe::Week, "01-15T23")), (0, 1));
    }

    #[test]
    fn a_day_holds_its_rows() {
        let bars = sample().slice(0..600);
        let (from, to) = (row(&bars, "01-09T23"), row(&bars, "01-10T22"));
        let frames = ended(&bars, Timeframe::Day);
        let day = frames.ended[to] - 1;
        let high = *bars.bid.high[from..=to].iter().max().unwrap();
        let low = *bars.bid.low[from..=to].iter().min().unwrap();
        assert_eq!(
            (frames.high[day], frames.low[day], frames.close[day]),
            (f64::from(high), f64::from(low), f64::from(bars.bid.close[to]))
        );
    }

    /// Without the last row of a day, the day is known one row later and by its own rows.
    #[test]
    fn a_gap_at_the_end_puts_off_what_is_known() {
        let all = sample().slice(0..600);
        let last = row(&all, "01-10T22");
        let bars = all.slice(0..last).append(all.slice(last + 1..600)).unwrap();
        let frames = ended(&bars, Timeframe::Day);
        assert_eq!(frames.ended[last - 1] + 1, frames.ended[last]);
        assert_eq!(frames.close[frames.ended[last] - 1], f64::from(all.bid.close[last - 1]));
    }
}
