//! Civil dates from days and nanoseconds since 1970, for labels.

use foxhunt_metrics::date_of_day;

/// A date of the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date {
    pub(crate) year: i64,
    /// 1..=12.
    pub(crate) month: u8,
    /// 1..=31.
    pub(crate) day: u8,
}

pub(crate) const DAY_NS: i64 = 86_400_000_000_000;
pub(crate) const HOUR_NS: i64 = 3_600_000_000_000;

pub(crate) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl Date {
    pub(crate) fn from_days(days: i64) -> Self {
        let (year, month, day) = date_of_day(days);
        Self { year, month, day }
    }

    /// The inverse.
    pub(crate) fn days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let month = i64::from(self.month);
        let shifted = if month > 2 { month - 3 } else { month + 9 };
        let day_of_year = (153 * shifted + 2) / 5 + i64::from(self.day) - 1;
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
    }

    pub(crate) fn of_ns(ns: i64) -> Self {
        Self::from_days(ns.div_euclid(DAY_NS))
    }

    pub(crate) fn month_name(self) -> &'static str {
        MONTHS.get(usize::from(self.month).wrapping_sub(1)).copied().unwrap_or("")
    }

    /// `3 Jan 2017`.
    pub(crate) fn text(self) -> String {
        format!("{} {} {}", self.day, self.month_name(), self.year)
    }
}

/// Hours and minutes UTC, `06:30`.
pub(crate) fn clock(ns: i64) -> String {
    let minutes = ns.rem_euclid(DAY_NS) / 60_000_000_000;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// `3 Jan 2017 06:30`.
pub(crate) fn date_time(ns: i64) -> String {
    format!("{} {}", Date::of_ns(ns).text(), clock(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(Date::from_days(0), Date { year: 1970, month: 1, day: 1 });
        assert_eq!(Date::from_days(-1), Date { year: 1969, month: 12, day: 31 });
        assert_eq!(Date::from_days(19_782).text(), "29 Feb 2024");
        for days in (-800_000..800_000).step_by(37) {
            assert_eq!(Date::from_days(days).days(), days);
        }
        assert_eq!(date_time(1_483_315_200_000_000_000 + 90 * 60_000_000_000), "2 Jan 2017 01:30");
    }
}
