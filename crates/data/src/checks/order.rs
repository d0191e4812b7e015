//! Rows in time order, each moment once.

use crate::{
    error::{DataError, shown},
    raw::RawRow,
};

/// Turns a newest-first file round (the answer says so); refuses any other disorder and every duplicate.
pub(super) fn sort(path: &str, rows: &mut [RawRow]) -> Result<bool, DataError> {
    let newest_first = rows.len() > 1 && rows.windows(2).all(|w| w[0].stamp_ns > w[1].stamp_ns);
    if newest_first {
        rows.reverse();
        return Ok(true);
    }
    let Some(w) = rows.windows(2).find(|w| w[0].stamp_ns >= w[1].stamp_ns) else { return Ok(false) };
    let (problem, fix) = if w[0].stamp_ns == w[1].stamp_ns {
        (format!("is the same moment as line {}", w[0].line), "remove one of the two rows")
    } else {
        (format!("is before line {} (\"{}\")", w[0].line, shown(&w[0].stamp)), "sort the rows by time")
    };
    Err(DataError::cell(path, (w[1].line, "timestamp"), &w[1].stamp, problem, fix))
}
