//! Stamps: telling their format from a column of text, and turning each into nanoseconds UTC.

mod sniff;
mod text;

use jiff::{
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone},
};
use rust_decimal::Decimal;

pub(crate) use sniff::{Sniffer, Verdict, order_by_steps};
use text::{calendar, full_year};

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
    /// The same with the month's name, so that nothing is to be told.
    Named {
        /// Whether an offset follows.
        zoned: bool,
    },
    /// Milliseconds since midnight of one day: year, month, day.
    MsOfDay([u32; 3]),
}

const UNITS: [(i64, &str); 4] =
    [(1_000_000_000, "unix seconds"), (1_000_000, "unix ms"), (1_000, "unix us"), (1, "unix ns")];
const MAX_NS: i64 = 9_190_000_000_000_000_000;
const NS_PER_DAY: i128 = 86_400_000_000_000;

impl StampFormat {
    /// The format in words.
    pub fn describe(self) -> String {
        let zone = |zoned| if zoned { " with offset" } else { " without zone" };
        match self {
            Self::Unix(unit) => UNITS.iter().find(|u| u.0 == unit).map_or("unix time", |u| u.1).to_owned(),
            Self::Calendar { order, zoned } => {
                let order = match order {
                    DateOrder::YearFirst => "year-first",
                    DateOrder::DayFirst => "day-first",
                    DateOrder::MonthFirst => "month-first",
                };
                format!("{order} date{}", zone(zoned))
            }
            Self::Named { zoned } => format!("date with the month's name{}", zone(zoned)),
            Self::MsOfDay([y, m, d]) => format!("ms since midnight of {y}-{m:02}-{d:02} (the file's name)"),
        }
    }

    /// Whether every stamp says its place on the time line by itself.
    pub(crate) fn is_absolute(self) -> bool {
        matches!(self, Self::Unix(_) | Self::Calendar { zoned: true, .. } | Self::Named { zoned: true })
    }
}

/// Whether the text looks like a stamp of any format at all.
pub(crate) fn looks_like_stamp(text: &str) -> bool {
    calendar(text).is_some() || unix_unit(text).is_some()
}

/// Whether the text is a date, with a time of day or without.
pub(crate) fn looks_like_date(text: &str) -> bool {
    calendar(text).is_some()
}

/// Whether the text is a time of day alone, as in files with date and time in two columns; `compact` allows `093000`.
pub(crate) fn is_time_of_day(text: &str, compact: bool) -> bool {
    (compact || text.contains(':'))
        && text::time_of_day(text.trim().as_bytes()).is_some_and(|(_, rest)| rest.is_empty())
}

/// Whether the text may be milliseconds since midnight.
pub(crate) fn is_ms_of_day(text: &str) -> bool {
    text.len() <= 8 && text.parse::<u32>().is_ok_and(|ms| ms < 86_400_000)
}

/// The date in a file's name, such as `20140505_quote.csv`: the first eight digits that are one.
pub(crate) fn date_in_name(name: &str) -> Option<[u32; 3]> {
    let runs = name.split(|c: char| !c.is_ascii_digit()).filter(|r| r.len() == 8);
    runs.filter_map(calendar)
        .map(|w| w.date)
        .find(|[y, m, d]| (1_970..=2_200).contains(y) && (1..=12).contains(m) && (1..=31).contains(d))
}

/// What a text that is no stamp looks like, in words, where that helps.
pub(crate) fn explain(text: &str) -> Option<String> {
    let number = text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    if text.bytes().all(|b| b == b'#') && !text.is_empty() {
        return Some("is a spreadsheet's sign that the column was too narrow: the time is lost".into());
    }
    if number.is_some() && text.to_ascii_lowercase().contains('e') {
        return Some("has lost digits in a spreadsheet: save the stamps as text or whole numbers".into());
    }
    let serial = number.is_some_and(|n| (15_000.0..80_000.0).contains(&n));
    serial.then(|| "is the number of a day, as spreadsheets count: format the column as a date".into())
}

/// What decides about a wall time that a clock change repeats.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    /// The stamp before, ns UTC.
    pub(crate) stamp_ns: Option<i64>,
    /// Stamps fall: the file is newest first.
    pub(crate) descending: bool,
}

/// Turns one stamp into ns UTC, and says whether its wall time is one of two. Of the two readings the earlier is taken unless
/// the stamp before forbids it (the later, in a file that is newest first).
///
/// # Errors
/// What is wrong with the text, in words.
pub(crate) fn parse(
    text: &str,
    format: StampFormat,
    zone: &TimeZone,
    before: Before,
) -> Result<(i64, bool), String> {
    let unknown = || explain(text).unwrap_or_else(|| "is no date or time that is known".into());
    match format {
        StampFormat::Unix(unit) => {
            if unix_unit(text) != Some(unit) {
                let like = format!("is not in {} like the first stamp", format.describe());
                return Err(explain(text).unwrap_or(like));
            }
            let number: Decimal = text.trim().parse().map_err(|_| "is not a number".to_owned())?;
            let ns = number.checked_mul(Decimal::from(unit)).ok_or("is out of range")?;
            narrow(i128::try_from(ns.trunc()).map_err(|_| "is out of range".to_owned())?)
                .map(|ns| (ns, false))
        }
        StampFormat::MsOfDay(date) => {
            let ms: i64 =
                text.parse().ok().filter(|_| is_ms_of_day(text)).ok_or("is no millisecond of a day")?;
            to_ns(date, ms * 1_000_000, None, zone, before)
        }
        StampFormat::Named { zoned } => {
            let written = calendar(text).ok_or_else(unknown)?;
            if !written.named || written.offset_s.is_some() != zoned {
                return Err(format!("is not a {} like the first stamp", format.describe()));
            }
            to_ns(written.date, written.time_ns, written.offset_s, zone, before)
        }
        StampFormat::Calendar { order, zoned } => {
            let written = calendar(text).ok_or_else(unknown)?;
            if written.named || written.offset_s.is_some() != zoned {
                return Err(format!("is not a {} like the first stamp", format.describe()));
            }
            if !written.short_year && written.year_first != (order == DateOrder::YearFirst) {
                return Err("has its year at another end than the first stamp".into());
            }
            let [a, b, c] = written.date;
            let [year, month, day] = match order {
                DateOrder::YearFirst => [a, b, c],
                DateOrder::DayFirst => [c, b, a],
                DateOrder::MonthFirst => [c, a, b],
            };
            let year = if written.short_year { full_year(year) } else { year };
            to_ns([year, month, day], written.time_ns, written.offset_s, zone, before)
        }
    }
}

fn to_ns(
    [y, m, d]: [u32; 3],
    time_ns: i64,
    offset_s: Option<i32>,
    zone: &TimeZone,
    before: Before,
) -> Result<(i64, bool), String> {
    let small = |v: u32| i8::try_from(v).map_err(|_| "is no day of the calendar".to_owned());
    let year = i16::try_from(y).map_err(|_| "is no day of the calendar".to_owned())?;
    let midnight = DateTime::new(year, small(m)?, small(d)?, 0, 0, 0, 0)
        .map_err(|_| "is no day of the calendar".to_owned())?;
    // Nanoseconds since 1970 as if the wall clock were UTC: exact, and no zone rule is asked for UTC.
    let days = TimeZone::UTC.to_timestamp(midnight).map_err(|_| "is out of range")?.as_nanosecond();
    debug_assert_eq!(days % NS_PER_DAY, 0);
    let wall = days + i128::from(time_ns);
    if let Some(offset) = offset_s {
        return narrow(wall - i128::from(offset) * 1_000_000_000).map(|ns| (ns, false));
    }
    if *zone == TimeZone::UTC {
        return narrow(wall).map(|ns| (ns, false));
    }
    let time = jiff::SignedDuration::from_nanos(time_ns);
    let civil = midnight.checked_add(time).map_err(|_| "is out of range")?;
    let ambiguous = zone.to_ambiguous_timestamp(civil);
    if matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. }) {
        return Err("is a wall time that its zone skips (a clock change): the zone is another, or UTC".into());
    }
    let is_fold = ambiguous.is_ambiguous();
    let early = ambiguous.earlier().map_err(|_| "is out of range")?.as_nanosecond();
    if !is_fold {
        return narrow(early).map(|ns| (ns, false));
    }
    let late = ambiguous.later().map_err(|_| "is out of range")?.as_nanosecond();
    let chosen = match before.stamp_ns.map(i128::from) {
        Some(before_ns) if before.descending && late < before_ns => late,
        Some(_) if before.descending => early,
        Some(before_ns) if early <= before_ns => late,
        _ => early,
    };
    narrow(chosen).map(|ns| (ns, true))
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

#[cfg(test)]
mod tests;
