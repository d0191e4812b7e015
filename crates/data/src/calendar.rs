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
}

/// Wall time at a moment. Whole seconds, rounded down.
pub(crate) fn local(ns: i64, zone: &TimeZone) -> LocalTime {
    let utc_s = ns.div_euclid(1_000_000_000);
    // Every i64 of nanoseconds is within what a timestamp holds; UTC stands in if that were ever untrue.
    let offset = Timestamp::from_second(utc_s).map_or(0, |t| i64::from(zone.to_offset(t).seconds()));
    let wall = utc_s + offset;
    LocalTime {
        weekday: (wall.div_euclid(86_400) + MONDAY_SHIFT).rem_euclid(7) as u8,
        second: wall.rem_euclid(86_400) as u32,
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
}
