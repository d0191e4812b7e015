//! Bar length, and the moments each bar opens and closes.

use std::collections::HashMap;

use crate::{
    error::DataError,
    source::{Basis, StampSide},
};

const SECOND: i64 = 1_000_000_000;
const HALF_HOUR: i64 = 1_800 * SECOND;
/// A pause this long between stamps ends a session, when the side of stamps is inferred.
const SESSION_BREAK: i64 = 4 * 3_600 * SECOND;

/// The moments of every bar.
pub(super) struct Times {
    pub(super) open_ns: Vec<i64>,
    pub(super) close_ns: Vec<i64>,
    /// Nominal bar length.
    pub(super) bar_ns: i64,
    pub(super) side: StampSide,
    pub(super) basis: Basis,
    /// Bars cut short so that they do not overlap a neighbour.
    pub(super) trimmed: u64,
}

/// Finds bar length and stamp side, and the two ends of every bar. Rows are in order.
pub(super) fn times(
    path: &str,
    stamps: &[i64],
    known: Option<(StampSide, Basis)>,
    bar_seconds: Option<i64>,
) -> Result<Times, DataError> {
    let bar_ns = bar_length(path, stamps, bar_seconds)?;
    let (side, basis) = match (known, infer_side(stamps, bar_ns)) {
        (Some(known), _) => known,
        (None, Some(side)) => (side, Basis::Inferred),
        (None, None) => (StampSide::Open, Basis::Assumed),
    };
    let rows = stamps.len();
    let stamp = |i: usize| stamps[i];
    let (mut open_ns, mut close_ns) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut trimmed = 0;
    for i in 0..rows {
        let (open, close, whole) = match side {
            StampSide::Open => {
                let end = stamp(i).saturating_add(bar_ns);
                let limit = if i + 1 < rows { stamp(i + 1) } else { i64::MAX };
                (stamp(i), end.min(limit), end <= limit)
            }
            StampSide::Close => {
                let start = stamp(i).saturating_sub(bar_ns);
                let limit = if i > 0 { stamp(i - 1) } else { i64::MIN };
                (start.max(limit), stamp(i), start >= limit)
            }
        };
        trimmed += u64::from(!whole);
        open_ns.push(open);
        close_ns.push(close);
    }
    Ok(Times { open_ns, close_ns, bar_ns, side, basis, trimmed })
}

/// The most common step (the shorter of two equally common), unless given.
fn bar_length(path: &str, stamps: &[i64], bar_seconds: Option<i64>) -> Result<i64, DataError> {
    let file = |problem: String, fix: &str| DataError::file(path, problem, fix);
    if let Some(seconds) = bar_seconds {
        return (1..=366 * 86_400).contains(&seconds).then(|| seconds * SECOND).ok_or_else(|| {
            file(format!("cannot have bars of {seconds} s"), "give bar_seconds from 1 to a year")
        });
    }
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for w in stamps.windows(2) {
        *counts.entry(w[1].saturating_sub(w[0])).or_default() += 1;
    }
    let Some((&bar, _)) = counts.iter().max_by_key(|(step, count)| (**count, std::cmp::Reverse(**step)))
    else {
        return Err(file("has a single row, which tells no bar length".into(), "give bar_seconds"));
    };
    let shorter: usize = counts.iter().filter(|(step, _)| **step < bar).map(|(_, count)| count).sum();
    if shorter * 100 > stamps.len() {
        let problem = format!(
            "mixes bar lengths: the most common step is {} s and {shorter} of {} steps are shorter",
            bar / SECOND,
            stamps.len() - 1
        );
        return Err(file(problem, "divide the file by bar length, or give bar_seconds"));
    }
    Ok(bar)
}

/// Tells opens from closes by where sessions begin and end.
///
/// Sessions begin and end at full or half hours. With bars shorter than that, stamps are closes if most sessions begin one
/// bar after such a moment and end on one, and opens if most begin on one and end one bar before. `None` if neither.
fn infer_side(stamps: &[i64], bar_ns: i64) -> Option<StampSide> {
    if bar_ns >= HALF_HOUR || HALF_HOUR % bar_ns != 0 {
        return None;
    }
    let breaks: Vec<(i64, i64)> = stamps
        .windows(2)
        .map(|w| (w[0], w[1]))
        .filter(|(last, first)| first.saturating_sub(*last) >= SESSION_BREAK)
        .collect();
    let share = |end: i64, start: i64| {
        let fits = |&&(last, first): &&(i64, i64)| {
            last.rem_euclid(HALF_HOUR) == end && first.rem_euclid(HALF_HOUR) == start
        };
        breaks.iter().filter(fits).count() * 2 > breaks.len()
    };
    if share(0, bar_ns) {
        Some(StampSide::Close)
    } else if share(HALF_HOUR - bar_ns, 0) {
        Some(StampSide::Open)
    } else {
        None
    }
}
