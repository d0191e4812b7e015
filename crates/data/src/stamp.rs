//! Stamps: telling their format from a column of text, and turning each into nanoseconds UTC.

use jiff::{
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone},
};
use rust_decimal::Decimal;

/// Order of the three numbers of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// 2017-01-31.
    YearFirst,
    /// 31.01.2017.
    DayFirst,
    /// 01/31/2017.
    MonthFirst,
}

/// How a column of stamps is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampFormat {
    /// Time since 1970-01-01 UTC; the number is the nanoseconds in one unit.
    Unix(i64),
    /// Date and time of day; with an offset from UTC (or Z) if `zoned`.
    Calendar {
        /// Order of the date's numbers.
        order: DateOrder,
        /// Whether an offset follows.
        zoned: bool,
    },
}

const UNITS: [(i64, &str); 4] =
    [(1_000_000_000, "unix seconds"), (1_000_000, "unix ms"), (1_000, "unix us"), (1, "unix ns")];
const MAX_NS: i64 = 9_190_000_000_000_000_000;
const NS_PER_DAY: i128 = 86_400_000_000_000;

impl StampFormat {
    /// The format in words.
    pub fn describe(self) -> String {
        match self {
            Self::Unix(unit) => UNITS.iter().find(|u| u.0 == unit).map_or("unix time", |u| u.1).to_owned(),
            Self::Calendar { order, zoned } => {
                let order = match order {
                    DateOrder::YearFirst => "year-first",
                    DateOrder::DayFirst => "day-first",
                    DateOrder::MonthFirst => "month-first",
                };
                format!("{order} date{}", if zoned { " with offset" } else { " without zone" })
            }
        }
    }
}

/// A date and time as written, before a zone is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    /// The date's numbers as they stand; the year is first or last.
    date: [u32; 3],
    year_first: bool,
    /// Nanoseconds since midnight.
    time_ns: i64,
    /// Seconds east of UTC.
    offset_s: Option<i32>,
}

/// Whether the text looks like a stamp of any format at all.
pub(crate) fn looks_like_stamp(text: &str) -> bool {
    calendar(text).is_some() || unix_unit(text).is_some()
}

/// Whether the text is a time of day alone, as in files with date and time in two columns.
pub(crate) fn looks_like_time(text: &str) -> bool {
    text.contains(':') && time_of_day(text.trim().as_bytes()).is_some_and(|(_, rest)| rest.is_empty())
}

/// Tells the format of a column.
///
/// Slashed or dotted dates with the year last are day-first or month-first as some row shows (a number above 12);
/// dotted ones are day-first when none does, for nobody writes months first with dots.
///
/// # Errors
/// What is wrong, in words, where no format fits or two do.
pub(crate) fn detect<'a>(column: impl Iterator<Item = &'a str> + Clone) -> Result<StampFormat, String> {
    let first = column.clone().next().unwrap_or_default();
    if let Some(written) = calendar(first) {
        let zoned = written.offset_s.is_some();
        if written.year_first {
            return Ok(StampFormat::Calendar { order: DateOrder::YearFirst, zoned });
        }
        let (mut day_first, mut month_first) = (first.contains('.'), false);
        for date in column.filter_map(calendar).map(|w| w.date) {
            day_first |= date[0] > 12;
            month_first |= date[1] > 12;
        }
        let order = match (day_first, month_first) {
            (true, false) => DateOrder::DayFirst,
            (false, true) => DateOrder::MonthFirst,
            (true, true) => return Err("has dates that are day-first and dates that are month-first".into()),
            (false, false) => return Err("may be day-first or month-first: no row tells".into()),
        };
        return Ok(StampFormat::Calendar { order, zoned });
    }
    unix_unit(first).map(StampFormat::Unix).ok_or_else(|| "is no date or time that is known".into())
}

/// Turns one stamp into ns UTC. `after` is the stamp before it: of the two readings of a wall time that a clock change
/// repeats, the later is taken when the earlier is not after it.
///
/// # Errors
/// What is wrong with the text, in words.
pub(crate) fn parse(
    text: &str,
    format: StampFormat,
    zone: &TimeZone,
    after: Option<i64>,
) -> Result<i64, String> {
    match format {
        StampFormat::Unix(unit) => {
            if unix_unit(text) != Some(unit) {
                return Err(format!("is not in {} like the first stamp", format.describe()));
            }
            let number: Decimal = text.trim().parse().map_err(|_| "is not a number".to_owned())?;
            let ns = number.checked_mul(Decimal::from(unit)).ok_or("is out of range")?;
            narrow(i128::try_from(ns.trunc()).map_err(|_| "is out of range".to_owned())?)
        }
        StampFormat::Calendar { order, zoned } => {
            let written = calendar(text).ok_or("is no date or time that is known")?;
            if written.year_first != (order == DateOrder::YearFirst) {
                return Err("has its year at another end than the first stamp".into());
            }
            if written.offset_s.is_some() != zoned {
                return Err(format!("is not a {} like the first stamp", format.describe()));
            }
            let [year, month, day] = match order {
                DateOrder::YearFirst => written.date,
                DateOrder::DayFirst => [written.date[2], written.date[1], written.date[0]],
                DateOrder::MonthFirst => [written.date[2], written.date[0], written.date[1]],
            };
            to_ns([year, month, day], written, zone, after)
        }
    }
}

fn to_ns([y, m, d]: [u32; 3], written: Written, zone: &TimeZone, after: Option<i64>) -> Result<i64, String> {
    let small = |v: u32| i8::try_from(v).map_err(|_| "is no day of the calendar".to_owned());
    let year = i16::try_from(y).map_err(|_| "is no day of the calendar".to_owned())?;
    let midnight = DateTime::new(year, small(m)?, small(d)?, 0, 0, 0, 0)
        .map_err(|_| "is no day of the calendar".to_owned())?;
    // Nanoseconds since 1970 as if the wall clock were UTC: exact, and no zone rule is asked for UTC.
    let days = TimeZone::UTC.to_timestamp(midnight).map_err(|_| "is out of range")?.as_nanosecond();
    debug_assert_eq!(days % NS_PER_DAY, 0);
    let wall = days + i128::from(written.time_ns);
    if let Some(offset) = written.offset_s {
        return narrow(wall - i128::from(offset) * 1_000_000_000);
    }
    if *zone == TimeZone::UTC {
        return narrow(wall);
    }
    let time = jiff::SignedDuration::from_nanos(written.time_ns);
    let civil = midnight.checked_add(time).map_err(|_| "is out of range")?;
    let ambiguous = zone.to_ambiguous_timestamp(civil);
    if matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. }) {
        return Err("is a wall time that its zone skips (a clock change)".into());
    }
    let is_fold = ambiguous.is_ambiguous();
    let early = ambiguous.earlier().map_err(|_| "is out of range")?.as_nanosecond();
    if is_fold && after.is_some_and(|a| early <= i128::from(a)) {
        return narrow(ambiguous.later().map_err(|_| "is out of range")?.as_nanosecond());
    }
    narrow(early)
}

fn narrow(ns: i128) -> Result<i64, String> {
    // A little inside i64, so that a bar's other end fits too.
    let inside = -MAX_NS..=MAX_NS;
    i64::try_from(ns).ok().filter(|ns| inside.contains(ns)).ok_or("is outside the years 1679 to 2261".into())
}

/// Nanoseconds in the unit that a bare number of this size must be in: seconds up to 1e11 (year 5138), and so on.
fn unix_unit(text: &str) -> Option<i64> {
    let text = text.trim();
    let whole = text.split('.').next()?;
    let fraction_ok = text.split('.').skip(1).all(|f| f.bytes().all(|b| b.is_ascii_digit()));
    if !whole.bytes().all(|b| b.is_ascii_digit()) || !fraction_ok || text.matches('.').count() > 1 {
        return None;
    }
    match whole.trim_start_matches('0').len() {
        9..=11 => Some(1_000_000_000),
        12..=14 => Some(1_000_000),
        15..=17 => Some(1_000),
        18..=19 => Some(1),
        _ => None,
    }
}

/// Takes between `min` and `max` digits off the front.
fn digits(text: &[u8], min: usize, max: usize) -> Option<(u32, &[u8])> {
    let n = text.iter().take(max).take_while(|b| b.is_ascii_digit()).count();
    (n >= min).then(|| (text[..n].iter().fold(0, |a, b| a * 10 + u32::from(b - b'0')), &text[n..]))
}

fn calendar(text: &str) -> Option<Written> {
    let text = text.trim().as_bytes();
    let run = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (date, year_first, rest) = if run == 8 || run == 14 {
        // 20110301, 20110301 090100 or 20110301090100. Fourteen digits as milliseconds would be the year 2600.
        let ((y, rest), (m, d)) =
            (digits(text, 4, 4)?, (digits(&text[4..], 2, 2)?, digits(&text[6..], 2, 2)?));
        debug_assert_eq!(rest.len(), text.len() - 4);
        if !(1_600..=2_400).contains(&y) {
            return None;
        }
        ([y, m.0, d.0], true, d.1)
    } else {
        let (a, rest) = digits(text, 1, 4)?;
        let year_first = run == 4;
        let (&sep, rest) = rest.split_first()?;
        if !matches!(sep, b'-' | b'/' | b'.') || run == 3 {
            return None;
        }
        let (b, rest) = digits(rest, 1, 2)?;
        let rest = rest.strip_prefix(&[sep])?;
        let (c, rest) = if year_first { digits(rest, 1, 2)? } else { digits(rest, 4, 4)? };
        ([a, b, c], year_first, rest)
    };
    let rest = match rest {
        [b' ' | b'T' | b't', tail @ ..] => tail.trim_ascii_start(),
        // Nothing may follow a date directly but the digits of a compact time.
        [] => rest,
        _ if run == 14 => rest,
        _ => return None,
    };
    if rest.is_empty() {
        return Some(Written { date, year_first, time_ns: 0, offset_s: None });
    }
    let (time_ns, rest) = time_of_day(rest)?;
    Some(Written { date, year_first, time_ns, offset_s: offset(rest.trim_ascii_start())? })
}

/// `9:30`, `09:30:00`, `09:30:00.000`, `090100` or `0901`, and what follows it.
fn time_of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let run = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (h, m, s, rest) = if run == 6 || run == 4 {
        let (h, rest) = digits(text, 2, 2)?;
        let (m, rest) = digits(rest, 2, 2)?;
        let (s, rest) = if run == 6 { digits(rest, 2, 2)? } else { (0, rest) };
        (h, m, s, rest)
    } else {
        let (h, rest) = digits(text, 1, 2)?;
        let (m, rest) = digits(rest.strip_prefix(b":")?, 2, 2)?;
        match rest.strip_prefix(b":") {
            Some(rest) => digits(rest, 2, 2).map(|(s, rest)| (h, m, s, rest))?,
            None => (h, m, 0, rest),
        }
    };
    let (fraction_ns, rest) = match rest.strip_prefix(b".") {
        Some(rest) => {
            let (value, tail) = digits(rest, 1, 9)?;
            let n = rest.len() - tail.len();
            (i64::from(value) * 10_i64.pow(9 - n as u32), tail)
        }
        None => (0, rest),
    };
    (h < 24 && m < 60 && s < 60)
        .then(|| (i64::from(h * 3_600 + m * 60 + s) * 1_000_000_000 + fraction_ns, rest))
}

/// `Z`, `UTC`, `GMT`, `+00:00`, `-0500` or `+01` to the end of the text; `Some(None)` when there is nothing.
fn offset(text: &[u8]) -> Option<Option<i32>> {
    match text {
        [] => return Some(None),
        b"Z" | b"z" | b"UTC" | b"GMT" => return Some(Some(0)),
        _ => {}
    }
    let sign = match text[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (h, rest) = digits(&text[1..], 2, 2)?;
    let (m, rest) = match rest.strip_prefix(b":").unwrap_or(rest) {
        [] => (0, &[][..]),
        rest => digits(rest, 2, 2)?,
    };
    (rest.is_empty() && h < 24 && m < 60).then(|| Some(sign * (h * 3_600 + m * 60) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str, zone: &str) -> Result<i64, String> {
        let zone = crate::instrument::zone(zone).unwrap();
        detect(std::iter::once(text)).and_then(|format| parse(text, format, &zone, None))
    }

    #[test]
    fn formats_of_the_wild_agree_on_one_moment() {
        let moment = 1_483_308_000_000_000_000; // 2017-01-01 22:00:00 UTC
        for text in [
            "2017-01-01 22:00:00",
            "2017-01-01T22:00",
            "2017-01-01T22:00:00Z",
            "2017-01-01 22:00:00+00:00",
            "2017-01-01T17:00:00.000-0500",
            "2017.01.01 22:00",
            "2017/1/1 22:00:00",
            "01.01.2017 22:00:00.000",
            "20170101 220000",
            "20170101220000",
            "1483308000",
            "1483308000.0",
            "1483308000000",
            "1483308000000000",
            "1483308000000000000",
            " 1483308000 ",
        ] {
            assert_eq!(ns(text, "UTC"), Ok(moment), "{text}");
        }
        assert_eq!(ns("2017-01-01 17:00:00", "America/New_York"), Ok(moment));
        assert_eq!(ns("1950-01-03", "UTC"), Ok(-630_979_200_000_000_000));
        assert_eq!(ns("1483308000.123456789", "UTC"), Ok(moment + 123_456_789));
    }

    #[test]
    fn what_is_no_stamp_is_refused() {
        for text in
            ["", "NaN", "1.05", "2017-13-01", "2017-02-29", "2017-01-01 24:00", "2017-01-01 22:00 Mars"]
        {
            assert!(ns(text, "UTC").is_err(), "{text}");
        }
        assert!(!looks_like_stamp("122.0"));
        assert!(looks_like_time("12:00") && !looks_like_time("1200"));
    }

    #[test]
    fn day_and_month_are_told_apart_by_the_column_or_refused() {
        let order = |column: &[&str]| match detect(column.iter().copied()) {
            Ok(StampFormat::Calendar { order, .. }) => Ok(order),
            Ok(other) => Err(other.describe()),
            Err(e) => Err(e),
        };
        assert_eq!(order(&["1/2/1990", "1/13/1990"]), Ok(DateOrder::MonthFirst));
        assert_eq!(order(&["1/2/1990", "13/2/1990"]), Ok(DateOrder::DayFirst));
        assert_eq!(order(&["01.02.2017", "02.02.2017"]), Ok(DateOrder::DayFirst));
        assert!(order(&["1/2/1990", "1/3/1990"]).unwrap_err().contains("no row tells"));
        assert!(order(&["13/2/1990", "2/13/1990"]).is_err());
    }

    #[test]
    fn clock_changes_neither_repeat_nor_invent_an_hour() {
        let zone = crate::instrument::zone("America/New_York").unwrap();
        let format = StampFormat::Calendar { order: DateOrder::YearFirst, zoned: false };
        let first = parse("2023-11-05 01:30", format, &zone, None).unwrap();
        let second = parse("2023-11-05 01:30", format, &zone, Some(first)).unwrap();
        assert_eq!(second - first, 3_600_000_000_000);
        assert!(parse("2023-03-12 02:30", format, &zone, None).unwrap_err().contains("skips"));
    }
}
