//! Returns by calendar month.

use crate::date::date_of_day;
use crate::metric::Undefined;
use crate::series::Series;

/// The return of one calendar month.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonthReturn {
    /// Year of the Gregorian calendar.
    pub year: i64,
    /// 1..=12.
    pub month: u8,
    /// Simple return, from the last equity of the month before.
    pub value: f64,
}

/// Returns by the month of the session, in order; the first and last may be partial. Equal to QuantStats `monthly_returns`.
///
/// # Errors
///
/// As [`Series::returns`].
pub fn month_returns(series: &Series) -> Result<Vec<MonthReturn>, Undefined> {
    series.returns()?;
    let mut from = series.equity[0];
    let rows: Vec<((i64, u8), i64)> =
        series.day.iter().zip(&series.equity).skip(1).map(|(&day, &e)| (month_of(day.into()), e)).collect();
    let months = rows.chunk_by(|a, b| a.0 == b.0).filter_map(|rows| rows.last());
    let one = |&((year, month), last): &((i64, u8), i64)| {
        let value = (last - from) as f64 / from as f64;
        from = last;
        MonthReturn { year, month, value }
    };
    Ok(months.map(one).collect())
}

fn month_of(day: i64) -> (i64, u8) {
    let (year, month, _) = date_of_day(day);
    (year, month)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::daily;

    #[test]
    fn months_end_at_their_last_session() {
        let mut series = daily(&[100, 110, 121, 242]);
        series.day = vec![17_166, 17_167, 17_168, 17_197 + 31];
        // 1 and 2 January 2017, then 3 March.
        let found = month_returns(&series).unwrap();
        assert_eq!(found.iter().map(|m| (m.year, m.month)).collect::<Vec<_>>(), [(2017, 1), (2017, 3)]);
        assert_eq!((found[0].value, found[1].value), (0.21, 1.0));
        assert_eq!((month_of(-1), month_of(19_782)), ((1969, 12), (2024, 2)));
        assert_eq!(month_returns(&daily(&[1, 0])), Err(Undefined::EquityNotPositive));
    }
}
