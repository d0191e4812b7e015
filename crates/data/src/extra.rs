//! [`ExtraColumn`]: a column of a file that is no part of a bar, kept because it was named.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A column that the caller named: a number per bar, as F64. That it was known at the bar's close is the caller's statement.
///
/// Where a file has no value, the last one before holds; rows before the first value have none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtraColumn {
    /// Name, as the caller wrote it.
    pub name: String,
    /// First row that has a value.
    pub first: usize,
    /// T finite values; 0 in rows before `first`.
    pub values: Vec<f64>,
}

/// No value is NaN.
impl Eq for ExtraColumn {}

impl ExtraColumn {
    /// A column in time order whose values hold until the next; NaN before the first.
    pub(crate) fn new(name: &str, mut values: Vec<f64>) -> Self {
        let first = values.iter().position(|v| !v.is_nan()).unwrap_or(values.len());
        values[..first].fill(0.0);
        Self { name: name.to_owned(), first, values }
    }

    /// The value of a row, if it has one.
    pub(crate) fn at(&self, row: usize) -> Option<f64> {
        (row >= self.first).then(|| self.values[row])
    }

    /// The values of each row that has one.
    pub fn known(&self) -> &[f64] {
        self.values.get(self.first..).unwrap_or_default()
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        Self {
            name: self.name.clone(),
            first: self.first.clamp(range.start, range.end) - range.start,
            values: self.values[range].to_vec(),
        }
    }

    /// Goes on with the same column of later bars: what is known at the end of this one holds until the other's first value.
    pub(crate) fn append(&mut self, next: Self) {
        let rows = self.values.len();
        let last = self.known().last().copied();
        if last.is_none() {
            self.first = rows + next.first;
        }
        self.values.extend(next.values);
        self.values[rows..rows + next.first].fill(last.unwrap_or(0.0));
    }
}

/// Where a row has no value of a column (NaN), the last one holds, which is taken up from those that have.
pub(crate) fn hold(last: &mut f64, value: f64) -> f64 {
    if !value.is_nan() {
        *last = value;
    }
    *last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> ExtraColumn {
        ExtraColumn::new("x", values.to_vec())
    }

    #[test]
    fn the_last_value_holds_and_rows_before_the_first_have_none() {
        const NONE: f64 = f64::NAN;
        let held = column(&[NONE, NONE, 3.0, 3.0, 3.0, -1.0]);
        assert_eq!((held.first, held.values.as_slice()), (2, &[0.0, 0.0, 3.0, 3.0, 3.0, -1.0][..]));
        assert_eq!([1, 2].map(|row| held.at(row)), [None, Some(3.0)]);
        assert_eq!(held.known(), [3.0, 3.0, 3.0, -1.0]);
        assert_eq!(column(&[NONE, NONE]).known(), [0.0_f64; 0]);
        for (range, first, values) in
            [(0..3, 2, vec![0.0, 0.0, 3.0]), (1..2, 1, vec![0.0]), (3..5, 0, vec![3.0, 3.0])]
        {
            let cut = held.slice(range);
            assert_eq!((cut.first, cut.values), (first, values));
        }
        let mut both = held.clone();
        both.append(column(&[NONE, 7.0]));
        assert_eq!(both, column(&[NONE, NONE, 3.0, 3.0, 3.0, -1.0, -1.0, 7.0]));
        let mut late = held.slice(0..2);
        late.append(column(&[NONE, 7.0]));
        assert_eq!(late, column(&[NONE, NONE, NONE, 7.0]));
    }
}
