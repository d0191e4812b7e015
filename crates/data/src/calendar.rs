//! The market's clock: local time of day and week of each bar's close.

use jiff::{Timestamp, tz::TimeZone};

use crate::{bars::Bars, error::DataError};

/// A moment on the market's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime {
    /// Day of the week, Monday 0 to Sunday 6.
    pub weekday: u8,
    /// Second of the day, 0 to 86,399.
    pub second: u32,
}

/// Where a bar stands on the clock of the market's sessions, in wall seconds since 1970-01-01 that a session day begins a whole
/// day of: the quotient by 86,400 is the date of the session day, the remainder the seconds since the session began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionClock {
    /// At the last instant that the bar covers.
    pub inside_s: i64,
    /// At its close, which is the first instant after the bar.
    pub close_s: i64,
}

/// Days from 1970-01-01 (a Thursday) to a Monday.
const MONDAY_SHIFT: i64 = 3;

impl Bars {
    /// Local time of each bar's close in the instrument's session zone (daylight saving followed): T rows.
    ///
    /// # Errors
    /// [`DataError::Instrument`] if the zone is unknown.
    pub fn close_local(&self) -> Result<Vec<LocalTime>, DataError> {
        let zone = self.instrument.session_zone()?;
        Ok(self.close_ns.iter().map(|&ns| local(ns, &zone)).collect())
    }

    /// The session clock of each bar: T rows, neither column ever falling.
    ///
    /// # Errors
    /// [`DataError::Instrument`] if the zone is unknown.
    pub fn session_clock(&self) -> Result<Vec<SessionClock>, DataError> {
        let zone = self.instrument.session_zone()?;
        let session = &self.instrument.session;
        let (start, length) = (i64::from(session.day_start_s), i64::from(session.length_s));
        let date_of_last_second = (start + (length - 1).max(0)).div_euclid(DAY_S) * DAY_S;
        let clock = |ns: i64| wall_seconds(ns, &zone) - start + date_of_last_second;
        let mut latest = SessionClock { inside_s: i64::MIN, close_s: i64::MIN };
        Ok(self
            .close_ns
            .iter()
            .map(|&ns| {
                // A clock that is set back brings back no hour.
                latest.inside_s = latest.inside_s.max(clock(ns - 1));
                latest.close_s = latest.close_s.max(clock(ns)).max(latest.inside_s);
                latest
            })
            .collect())
    }

    /// The session day of each bar's close, as days since 1970-01-01 of the market's own calendar: T rows, never falling.
    ///
    /// A session day begins at the session's start, and its date is that of the session's last second: what trades from
    /// Sunday 17:00 in New York to Monday 17:00 is Monday's. A close at the very start of a session belongs to the day
    /// that ends then; a close outside the regular hours to the session before.
    ///
    /// # Errors
    /// [`DataError::Instrument`] if the zone is unknown.
    pub fn session_days(&self) -> Result<Vec<i32>, DataError> {
        Ok(self.session_clock()?.iter().map(|c| c.inside_s.div_euclid(DAY_S) as i32).collect())
    }
}

impl Bars {
    /// Whether positions are closed at each bar's close, where the instrument asks for it ([`crate::Session::flat_by_close`]): T
    /// rows, or none where it does not.
    ///
    /// A bar ends its session if it closes at or after the session's regular end, or if the next bar belongs to another
    /// session: that is how early closes show. Bars outside the regular hours each end one, so that nothing is held from one to
    /// the next. The last bar of all is judged by the clock alone.
    ///
    /// # Errors
    /// [`DataError::File`](crate::DataError) for bars longer than a day, [`DataError::Instrument`] if the zone is unknown.
    pub fn session_ends(&self) -> Result<Vec<bool>, DataError> {
        let session = &self.instrument.session;
        if !session.flat_by_close {
            return Ok(Vec::new());
        }
        if self.source.bar_seconds > DAY_S {
            let problem = format!(
                "has bars of {} seconds, and positions are to be flat by each day's close",
                self.source.bar_seconds
            );
            return Err(DataError::file(
                &self.source.path,
                problem,
                "give bars of a day or less, or leave session.flat_by_close out",
            ));
        }
        let clock = self.session_clock()?;
        let day = |c: &SessionClock| c.inside_s.div_euclid(DAY_S);
        let after = clock.iter().skip(1).map(|next| Some(day(next))).chain([None]);
        let over = |c: &SessionClock| c.close_s - day(c) * DAY_S >= i64::from(session.length_s);
        Ok(clock
            .iter()
            .zip(after)
            .map(|(c, next)| over(c) || next.is_some_and(|next| next != day(c)))
            .collect())
    }
}

/// Where the last bar of a file stands in its session, as far as a clock tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionNow {
    /// Whether the last bar ends its session.
    pub ends: bool,
    /// Whether the bar that follows will end its own.
    pub next_ends: bool,
}

impl Bars {
    /// The last bar's place in its session, where positions are closed at a session's end ([`Bars::session_ends`]); nothing
    /// where they are not. The bar that follows is taken to be as long as the others: one after a session's end is the first of
    /// the next session, unless bars outside the regular hours were seen, which each end one. A day that closes early is not
    /// known beforehand.
    ///
    /// # Errors
    /// As [`Bars::session_ends`].
    pub fn session_now(&self) -> Result<Option<SessionNow>, DataError> {
        let ends = self.session_ends()?;
        let clock = self.session_clock()?;
        let (Some(&ends_now), Some(last)) = (ends.last(), clock.last()) else { return Ok(None) };
        let (length, bar) = (i64::from(self.instrument.session.length_s), self.source.bar_seconds);
        let close = last.close_s - last.inside_s.div_euclid(DAY_S) * DAY_S;
        let next_ends = if ends_now {
            // Its open lies at or beyond the regular end: so may the next one's.
            bar >= length || close - bar >= length
        } else {
            close + bar >= length
        };
        Ok(Some(SessionNow { ends: ends_now, next_ends }))
    }
}

const DAY_S: i64 = 86_400;

/// Seconds since 1970-01-01 00:00 that a wall clock shows at a moment, rounded down.
fn wall_seconds(ns: i64, zone: &TimeZone) -> i64 {
    let utc_s = ns.div_euclid(1_000_000_000);
    // Every i64 of nanoseconds is within what a timestamp holds; UTC stands in if that were ever untrue.
    utc_s + Timestamp::from_second(utc_s).map_or(0, |t| i64::from(zone.to_offset(t).seconds()))
}

/// Wall time at a moment. Whole seconds, rounded down.
pub(crate) fn local(ns: i64, zone: &TimeZone) -> LocalTime {
    let wall = wall_seconds(ns, zone);
    LocalTime {
        weekday: (wall.div_euclid(DAY_S) + MONDAY_SHIFT).rem_euclid(7) as u8,
        second: wall.rem_euclid(DAY_S) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_york_follows_daylight_saving() {
        let zone = crate::instrument::zone("America/New_York").unwrap();
        // 2023-01-03 14:31 UTC is a Tuesday, 09:31 in winter; 2023-07-03 13:31 UTC a Monday, 09:31 in summer.
        assert_eq!(local(1_672_756_260_000_000_000, &zone), LocalTime { weekday: 1, second: 34_260 });
        assert_eq!(local(1_688_391_060_000_000_000, &zone), LocalTime { weekday: 0, second: 34_260 });
    }
    /// The clocks of New York went forward on Sunday 2017-03-12: the FX day ended at 22:00 UTC on the Friday before it, at 21:00
    /// on the Monday after it, and at 22:00 again from 6 November on. A fixed offset would put an hour a day into another day.
    #[test]
    fn daylight_saving_shifts_no_day() {
        let mut bars = crate::sample().slice(0..6);
        bars.instrument.session = crate::Session {
            time_zone: "America/New_York".into(),
            day_start_s: 61_200,
            length_s: 86_400,
            flat_by_close: false,
        };
        let closes = ["03-10T22", "03-12T22", "03-13T21", "03-13T22", "11-06T22", "11-06T23"];
        let ns = |t: &str| crate::parse_moment(&format!("2017-{t}:00:00Z")).unwrap();
        bars.close_ns = closes.map(ns).to_vec();
        let day = |date: &str| (ns(&format!("{date}T00")) / 86_400_000_000_000) as i32;
        let (friday, monday, november) = (day("03-10"), day("03-13"), day("11-06"));
        let right = [friday, monday, monday, monday + 1, november, november + 1];
        assert_eq!(bars.session_days().unwrap(), right);
        // The planted fault: New York at UTC-5 all the year.
        bars.instrument.session.time_zone = "Etc/GMT+5".into();
        let faulty = [friday, monday - 1, monday, monday, november, november + 1];
        assert_eq!(bars.session_days().unwrap(), faulty);
    }

    #[test]
    fn session_days_follow_the_market() {
        let mut bars = crate::sample().slice(0..6);
        let hour = 3_600_000_000_000;
        // 2017-01-01 22:00 UTC is Sunday 17:00 in New York.
        let sunday = 1_483_308_000_000_000_000;
        let monday = 17_168;
        let mut days = |zone: &str, day_start_s, length_s, closes: [i64; 6]| {
            bars.instrument.session =
                crate::Session { time_zone: zone.into(), day_start_s, length_s, flat_by_close: false };
            bars.close_ns = closes.map(|h| sunday + h * hour).to_vec();
            bars.session_days().unwrap().iter().map(|d| d - monday).collect::<Vec<_>>()
        };
        // Friday's last close; Sunday's first, Monday's last, and what follows it.
        assert_eq!(days("America/New_York", 61_200, 86_400, [-48, 1, 23, 24, 25, 48]), [-3, 0, 0, 0, 1, 1]);
        // Round the clock in UTC: midnight ends its day.
        assert_eq!(days("UTC", 0, 86_400, [-22, 0, 1, 2, 3, 26]), [-2, -1, -1, -1, 0, 0]);
        // US shares from 9:30 to 16:00: after hours still belong to the day, and so does the night.
        assert_eq!(days("America/New_York", 34_200, 23_400, [17, 23, 24, 39, 41, 42]), [0, 0, 0, 0, 1, 1]);
    }

    /// US shares from 9:30 to 16:00 in New York, bars of half an hour, in UTC.
    #[test]
    fn sessions_end_by_the_clock_and_where_the_file_goes_on_in_another() {
        let ns = |t: &str| crate::parse_moment(&format!("2017-01-{t}:00Z")).unwrap();
        let mut bars = crate::sample().slice(0..8);
        bars.source.bar_seconds = 1_800;
        let session = |length_s, flat_by_close| crate::Session {
            time_zone: "America/New_York".into(),
            day_start_s: 34_200,
            length_s,
            flat_by_close,
        };
        // The last bar of the 3rd; after hours; before hours of the 4th; its first; an early close; the 5th, and its end.
        let closes =
            ["03T20:30", "03T21:00", "03T21:30", "04T14:00", "04T15:00", "04T18:00", "05T15:00", "05T20:30"];
        bars.close_ns = closes.map(ns).to_vec();
        bars.instrument.session = session(23_400, true);
        assert_eq!(bars.session_ends().unwrap(), [false, true, true, true, false, true, false, false]);
        // What comes after the last bar is not known.
        let now = |rows: usize| bars.slice(0..rows).session_now().unwrap().unwrap();
        let told: Vec<(bool, bool)> = (1..=8).map(now).map(|n| (n.ends, n.next_ends)).collect();
        let (mid, before, end, outside) = ((false, false), (false, true), (true, false), (true, true));
        assert_eq!(told, [before, end, outside, outside, mid, mid, mid, before]);
        assert_eq!(bars.slice(0..6).session_ends().unwrap(), [false, true, true, true, false, false]);
        bars.instrument.session = session(23_400, false);
        assert!(bars.session_ends().unwrap().is_empty());
        bars.instrument.session = session(23_400, true);
        bars.source.bar_seconds = 604_800;
        assert!(bars.session_ends().unwrap_err().to_string().contains("bars of 604800 seconds"));
    }
}
