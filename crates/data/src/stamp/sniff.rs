//! Telling the format of stamps from the rows that have been read so far.

use jiff::tz::TimeZone;

use super::{Before, DateOrder, StampFormat, explain, parse, text::calendar, unix_unit};

/// What the stamps seen so far say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Their format.
    Known(StampFormat),
    /// Day-first or month-first: no row tells.
    Unclear {
        /// Whether an offset follows.
        zoned: bool,
    },
    /// No format, in words.
    Wrong(String),
}

/// Collects what stamps say. Slashed or dotted dates with the year last are day-first or month-first as some row shows (a
/// number above 12); dotted ones are day-first when none does, for nobody writes months first with dots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sniffer {
    first: Option<Verdict>,
    dotted: bool,
    short_year: bool,
    day_first: bool,
    month_first: bool,
}

impl Sniffer {
    /// Looks at one more stamp.
    pub(crate) fn look(&mut self, text: &str) {
        let written = calendar(text);
        if self.first.is_none() {
            self.first = Some(match written {
                Some(w) if w.named => Verdict::Known(StampFormat::Named { zoned: w.offset_s.is_some() }),
                Some(w) if w.year_first => {
                    let zoned = w.offset_s.is_some();
                    Verdict::Known(StampFormat::Calendar { order: DateOrder::YearFirst, zoned })
                }
                Some(w) => {
                    (self.dotted, self.short_year) = (w.dotted, w.short_year);
                    Verdict::Unclear { zoned: w.offset_s.is_some() }
                }
                None => match unix_unit(text) {
                    Some(unit) => Verdict::Known(StampFormat::Unix(unit)),
                    None => {
                        Verdict::Wrong(explain(text).unwrap_or("is no date or time that is known".into()))
                    }
                },
            });
        }
        // What is a date in neither order, such as 99.99.2017, tells nothing of the others: it is refused where it stands.
        if let Some([first, second, _]) = written.filter(|w| !w.year_first).map(|w| w.date) {
            let (day, month) = (13..=31, 1..=12);
            self.day_first |= day.contains(&first) && month.contains(&second);
            self.month_first |= day.contains(&second) && month.contains(&first);
        }
    }

    /// Whether some stamps are day-first and others month-first.
    pub(crate) fn is_mixed(&self) -> bool {
        let unclear = matches!(self.first, Some(Verdict::Unclear { .. }));
        unclear && (self.day_first || self.dotted) && self.month_first
    }

    /// What all stamps say; `given` is the order that the caller says.
    pub(crate) fn verdict(&self, given: Option<DateOrder>) -> Verdict {
        let zoned = match &self.first {
            Some(Verdict::Unclear { zoned }) => *zoned,
            Some(Verdict::Known(StampFormat::Calendar { zoned, .. })) if given.is_some() => *zoned,
            Some(known) => return known.clone(),
            None => return Verdict::Wrong("is no date or time that is known".into()),
        };
        let known = |order| Verdict::Known(StampFormat::Calendar { order, zoned });
        if let Some(order) = given {
            return known(order);
        }
        if self.short_year {
            return Verdict::Wrong("has a year of two digits, which may be any of the three numbers".into());
        }
        match (self.day_first || self.dotted, self.month_first) {
            (true, false) => known(DateOrder::DayFirst),
            (false, true) => known(DateOrder::MonthFirst),
            (true, true) => Verdict::Wrong("is of another order than the dates before it".into()),
            (false, false) => Verdict::Unclear { zoned },
        }
    }
}

/// How many times longer the longest step must be under the wrong order.
const STEP_RATIO: u64 = 10;

/// The order under which stamps follow one another, where no number above 12 tells: with the wrong one, tomorrow is a month
/// away.
pub(crate) fn order_by_steps<'a>(
    stamps: impl Iterator<Item = &'a str> + Clone,
    zoned: bool,
) -> Option<DateOrder> {
    let longest = |order| -> Option<u64> {
        let format = StampFormat::Calendar { order, zoned };
        let mut before: Option<i64> = None;
        let mut longest = 0;
        for text in stamps.clone() {
            // What is no date is refused where it stands.
            let Ok((ns, _)) = parse(text, format, &TimeZone::UTC, Before::default()) else { continue };
            longest = longest.max(before.map_or(0, |b| ns.abs_diff(b)));
            before = Some(ns);
        }
        Some(longest)
    };
    let (day, month) = (longest(DateOrder::DayFirst)?, longest(DateOrder::MonthFirst)?);
    if day.checked_mul(STEP_RATIO)? <= month && day > 0 {
        Some(DateOrder::DayFirst)
    } else if month.checked_mul(STEP_RATIO)? <= day && month > 0 {
        Some(DateOrder::MonthFirst)
    } else {
        None
    }
}
