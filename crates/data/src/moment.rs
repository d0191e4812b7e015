//! Moments in words, as a configuration names them: always UTC.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// Reads a date (`2017-01-31`, its first moment in UTC) or an RFC 3339 stamp (`2017-01-31T12:00:00Z`) as ns UTC.
///
/// # Errors
/// What is wrong with the text and what would be right.
pub fn parse_moment(text: &str) -> Result<i64, String> {
    let wrong = || {
        format!(
            "'{text}' is neither a date such as 2017-01-31 nor a stamp with an offset such as 2017-01-31T12:00:00Z"
        )
    };
    // A date alone is ten characters: longer texts with no offset would be read as dates, their time of day dropped.
    let stamp = if text.len() == 10 {
        text.parse::<Date>().ok().and_then(|date| date.to_zoned(TimeZone::UTC).ok()).map(|z| z.timestamp())
    } else {
        text.parse::<Timestamp>().ok()
    };
    let stamp = stamp.ok_or_else(wrong)?;
    i64::try_from(stamp.as_nanosecond()).map_err(|_| format!("'{text}' is out of range: use 1678 to 2261"))
}

/// The moment as an RFC 3339 stamp in UTC.
pub fn show_moment(ns: i64) -> String {
    Timestamp::from_nanosecond(i128::from(ns)).map_or_else(|_| format!("{ns} ns"), |t| t.to_string())
}

/// A span of time in its largest units: `1 min`, `3 d 4 h`.
pub fn show_seconds(seconds: i64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, m) => format!("{m} min"),
        (0, h, 0) => format!("{h} h"),
        (0, h, m) => format!("{h} h {m} min"),
        (d, h, _) => format!("{d} d {h} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_stamps_are_utc() {
        const DAY: i64 = 86_400_000_000_000;
        assert_eq!(parse_moment("1970-01-02"), Ok(DAY));
        assert_eq!(parse_moment("1970-01-02T00:00:00Z"), Ok(DAY));
        assert_eq!(parse_moment("1970-01-02T01:30:00+01:30"), Ok(DAY));
        assert_eq!(show_moment(DAY), "1970-01-02T00:00:00Z");
        assert_eq!(parse_moment("2017-01-01").map(show_moment), Ok("2017-01-01T00:00:00Z".into()));
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in
            ["", "2017", "2017-02-29", "01.02.2017", "2017-01-01T12:00:00", "2017-01-01 12:00", "12017-1-1"]
        {
            let error = parse_moment(text).unwrap_err();
            assert!(error.contains(text) && error.contains("2017-01-31T12:00:00Z"), "{error}");
        }
        assert!(parse_moment("1500-01-01").unwrap_err().contains("range"));
    }
}
