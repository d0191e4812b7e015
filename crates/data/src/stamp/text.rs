//! The text of a date and a time of day, before any zone is applied.

/// A date and time as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// The date's numbers as they stand; the year is first or last. Year, month, day if the month is a name.
    pub(super) date: [u32; 3],
    pub(super) year_first: bool,
    pub(super) named: bool,
    /// Three numbers of two digits: which one is the year is not told.
    pub(super) short_year: bool,
    /// The date's numbers are apart by points.
    pub(super) dotted: bool,
    /// Nanoseconds since midnight.
    pub(super) time_ns: i64,
    /// Seconds east of UTC.
    pub(super) offset_s: Option<i32>,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Takes between `min` and `max` digits off the front.
pub(super) fn digits(text: &[u8], min: usize, max: usize) -> Option<(u32, &[u8])> {
    let n = text.iter().take(max).take_while(|b| b.is_ascii_digit()).count();
    (n >= min).then(|| (text[..n].iter().fold(0, |a, b| a * 10 + u32::from(b - b'0')), &text[n..]))
}

fn run(text: &[u8], is: fn(&u8) -> bool) -> usize {
    text.iter().take_while(|b| is(b)).count()
}

/// A year of two digits as POSIX reads it: 69 to 99 are of the last century.
pub(super) fn full_year(year: u32) -> u32 {
    match year {
        0..=68 => 2_000 + year,
        69..=99 => 1_900 + year,
        _ => year,
    }
}

/// Reads a date, and what may follow it.
pub(super) fn calendar(text: &str) -> Option<Written> {
    let text = text.trim().as_bytes();
    let leading = run(text, u8::is_ascii_digit);
    let none = Written {
        date: [0; 3],
        year_first: true,
        named: false,
        short_year: false,
        dotted: false,
        time_ns: 0,
        offset_s: None,
    };
    let (written, rest) = if leading == 8 || leading == 14 {
        // 20110301, 20110301 090100 or 20110301090100. Fourteen digits as milliseconds would be the year 2600.
        let (y, rest) = digits(text, 4, 4)?;
        let (m, rest) = digits(rest, 2, 2)?;
        let (d, rest) = digits(rest, 2, 2)?;
        if !(1_600..=2_400).contains(&y) {
            return None;
        }
        (Written { date: [y, m, d], ..none }, rest)
    } else if let Some((date, rest)) = named_date(text) {
        (Written { date, named: true, ..none }, rest)
    } else {
        let (a, rest) = digits(text, 1, 4)?;
        let year_first = leading == 4;
        let (&sep, rest) = rest.split_first()?;
        if !matches!(sep, b'-' | b'/' | b'.') || leading == 3 {
            return None;
        }
        let (b, rest) = digits(rest, 1, 2)?;
        let rest = rest.strip_prefix(&[sep])?;
        let short = !year_first && run(rest, u8::is_ascii_digit) == 2;
        let (c, rest) = match (year_first, short) {
            (true, _) => digits(rest, 1, 2)?,
            (_, true) => digits(rest, 2, 2)?,
            _ => digits(rest, 4, 4)?,
        };
        (Written { date: [a, b, c], year_first, short_year: short, dotted: sep == b'.', ..none }, rest)
    };
    let rest = match rest {
        [b' ' | b'T' | b't' | b',' | b'_', tail @ ..] => tail.trim_ascii_start(),
        // Nothing may follow a date directly but the digits of a compact time.
        [] => return Some(written),
        _ if leading == 14 => rest,
        _ => return None,
    };
    if rest.is_empty() {
        return Some(written);
    }
    let (time_ns, rest) = time_of_day(rest)?;
    Some(Written { time_ns, offset_s: offset(rest.trim_ascii_start())?, ..written })
}

/// `3-Jan-22`, `3 January 2022`, `Jan 3, 2022` or `2022-Jan-03`: year, month and day.
fn named_date(text: &[u8]) -> Option<([u32; 3], &[u8])> {
    let apart = |text: &'_ [u8]| -> usize { run(text, |b| matches!(b, b' ' | b'-' | b'/' | b'.' | b',')) };
    let skip =
        |text| -> Option<&[u8]> { Some(apart(text)).filter(|n| (1..=2).contains(n)).map(|n| &text[n..]) };
    if let Some((month, rest)) = month(text) {
        let (day, rest) = digits(skip(rest)?, 1, 2)?;
        let (year, rest) = digits(skip(rest)?, 4, 4)?;
        return Some(([year, month, day], rest));
    }
    let n = run(text, u8::is_ascii_digit);
    let (a, rest) = digits(text, 1, 4)?;
    let (month, rest) = month(skip(rest)?)?;
    let after = skip(rest)?;
    match n {
        4 => digits(after, 1, 2).map(|(day, rest)| ([a, month, day], rest)),
        1 | 2 => {
            let long = run(after, u8::is_ascii_digit) == 4;
            let (year, rest) = if long { digits(after, 4, 4)? } else { digits(after, 2, 2)? };
            Some(([full_year(year), month, a], rest))
        }
        _ => None,
    }
}

/// An English month at the front, in full or as its first three letters (`Sept` too).
fn month(text: &[u8]) -> Option<(u32, &[u8])> {
    let n = run(text, u8::is_ascii_alphabetic);
    let word = std::str::from_utf8(&text[..n]).ok()?.to_ascii_lowercase();
    let at = MONTHS
        .iter()
        .position(|m| *m == word || m[..3] == word || (m.starts_with("sept") && word == "sept"))?;
    Some((at as u32 + 1, &text[n..]))
}

/// `9:30`, `09:30:00`, `09:30:00.000`, `090100` or `0901`, with AM or PM or without, and what follows it.
pub(super) fn time_of_day(text: &[u8]) -> Option<(i64, &[u8])> {
    let leading = run(text, u8::is_ascii_digit);
    let (h, m, s, rest) = if leading == 6 || leading == 4 {
        let (h, rest) = digits(text, 2, 2)?;
        let (m, rest) = digits(rest, 2, 2)?;
        let (s, rest) = if leading == 6 { digits(rest, 2, 2)? } else { (0, rest) };
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
    let (h, rest) = match half_day(rest.trim_ascii_start()) {
        Some(_) if !(1..=12).contains(&h) => return None,
        Some((after_noon, rest)) => (h % 12 + if after_noon { 12 } else { 0 }, rest),
        None => (h, rest),
    };
    (h < 24 && m < 60 && s < 60)
        .then(|| (i64::from(h * 3_600 + m * 60 + s) * 1_000_000_000 + fraction_ns, rest))
}

/// AM or PM at the front: whether it is after noon, and what follows.
fn half_day(text: &[u8]) -> Option<(bool, &[u8])> {
    let two = text.get(..2)?;
    let after_noon = two.eq_ignore_ascii_case(b"pm");
    (after_noon || two.eq_ignore_ascii_case(b"am")).then(|| (after_noon, &text[2..]))
}

/// `Z`, `UTC`, `GMT`, `+00:00`, `-0500`, `+01` or `GMT+0100` to the end of the text; `Some(None)` when there is nothing.
fn offset(text: &[u8]) -> Option<Option<i32>> {
    match text {
        [] => return Some(None),
        b"Z" | b"z" | b"UTC" | b"GMT" => return Some(Some(0)),
        _ => {}
    }
    let text = text.strip_prefix(b"GMT").or_else(|| text.strip_prefix(b"UTC")).unwrap_or(text);
    let sign = match text.first()? {
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
