//! Rows in time order, each moment once.

use super::Collector;
use crate::{error::DataError, moment::show_moment};

/// Turns a newest-first file round, sorts other disorder, and drops rows that repeat another in everything; all of it is
/// counted. Two rows of one moment that differ are refused: which of them is right cannot be told.
pub(super) fn sort(all: &mut Collector<'_>) -> Result<(), DataError> {
    let falls = |w: &[i64]| w[0] > w[1];
    if all.stamps.windows(2).all(|w| w[0] < w[1]) {
        return Ok(());
    }
    let n = all.stamps.len();
    let mut order: Vec<usize> = (0..n).collect();
    if all.stamps.windows(2).all(|w| w[0] >= w[1]) {
        all.repairs.reversed = all.stamps.windows(2).any(falls);
        order.reverse();
    } else {
        all.repairs.steps_back = all.stamps.windows(2).filter(|w| falls(w)).count() as u64;
        order.sort_by_key(|&i| all.stamps[i]);
    }
    let mut kept: Vec<usize> = Vec::with_capacity(n);
    for &i in &order {
        match kept.last() {
            Some(&before) if all.stamps[before] == all.stamps[i] => {
                if !all.same(before, i) {
                    let (first, second) = (before.min(i), before.max(i));
                    let other = if all.extra.is_empty() { " or volume" } else { ", volume or extra columns" };
                    let problem =
                        format!("is the same moment as line {}, with other prices{other}", all.lines[first]);
                    let fix =
                        "remove one of the two rows, or name the symbol's column where there are several";
                    let text = show_moment(all.stamps[i]);
                    return Err(DataError::cell(
                        all.path,
                        (all.lines[second], "timestamp"),
                        &text,
                        problem,
                        fix,
                    ));
                }
                all.repairs.duplicates_dropped += 1;
            }
            _ => kept.push(i),
        }
    }
    all.reorder(&kept);
    Ok(())
}
