//! Columns of a file without header, by how many numbers follow the stamp, and by what the numbers say.

use super::{
    columns::{Columns, Found, Vendor},
    numbers,
    row::Row,
};
use crate::stamp;

/// Rows that must agree before an unusual order of columns is believed.
const ORDER_EVIDENCE: usize = 20;

/// Orders of open, high, low, close and volume that vendors write; the first is the usual one.
const ORDERS: [([usize; 4], usize, &str); 4] = [
    ([0, 1, 2, 3], 4, "open, high, low, close, volume"),
    ([1, 2, 3, 4], 0, "volume, open, high, low, close"),
    ([2, 1, 0, 3], 4, "low, high, open, close, volume"),
    ([0, 2, 3, 1], 4, "open, close, high, low, volume"),
];

/// What a layout says in words when it is not the usual one.
pub(crate) type Said = Option<String>;

/// Columns by number: 4 prices; 5 with volume; 6 with volume and trade count; 8 for bid and ask; 10 for both with sizes; 11 for
/// klines. With `date_in_name` a first number below a day's milliseconds is a stamp. An unusual order that no row speaks
/// for shows as high below low in the checks.
///
/// # Errors
/// What does not fit, in words.
pub(crate) fn columns(
    rows: &[Row],
    delimiter: Option<u8>,
    date_in_name: bool,
) -> Result<(Found, Said), String> {
    let Some(first) = rows.first() else { return Err("has no rows".into()) };
    let date = first.cell(0);
    let lean = date_in_name && rows.iter().take(ORDER_EVIDENCE).all(|r| stamp::is_ms_of_day(r.cell(0)));
    if !stamp::looks_like_stamp(date) && !lean {
        return Err(stamp::explain(date).map_or_else(
            || "has no header, and its first column is no date or time".to_owned(),
            |why| format!("has no header, and its first column {why}"),
        ));
    }
    let split = stamp::is_time_of_day(first.cell(1), false);
    let at = if split { 2 } else { 1 };
    // A delimiter at the end of a line is no column.
    let last_is_empty = rows.iter().all(|r| r.cell(r.len().saturating_sub(1)).is_empty());
    let numbers = first.len().saturating_sub(at + usize::from(last_is_empty));
    let mut found = Found {
        columns: Columns { time_of_day: split.then_some(1), ..Columns::default() },
        stamp: Some(0),
        ..Found::default()
    };
    let mut said = None;
    let mut order = ([0, 1, 2, 3], 4);
    if numbers >= 5 && !split {
        let fits = |order: &([usize; 4], usize, &str)| rows.iter().all(|row| is_bar(row, at, &order.0));
        if let Some((i, (prices, volume, words))) = ORDERS.iter().enumerate().find(|(_, o)| fits(o))
            && i > 0
            && rows.len() >= ORDER_EVIDENCE
            && numbers == 5
        {
            order = (*prices, *volume);
            said = Some(format!("columns are time, {words}, as the numbers say"));
        }
    }
    found.bid = order.0.map(|i| Some(at + i));
    let volume = Some(at + order.1);
    let mut unused: Vec<&str> = Vec::new();
    let columns = &mut found.columns;
    match numbers {
        4 => {}
        // MetaTrader counts ticks there, which are no lots.
        5 if split => unused.push("tick volume"),
        5 => columns.volume = volume,
        6 => {
            columns.volume = volume;
            unused.push("trades");
        }
        8 => found.ask = std::array::from_fn(|i| Some(at + 4 + i)),
        10 => {
            found.ask = std::array::from_fn(|i| Some(at + 5 + i));
            unused.extend(["bid size", "ask size"]);
        }
        11 => {
            columns.volume = volume;
            unused.extend([
                "close time",
                "quote volume",
                "trades",
                "taker volume",
                "taker quote volume",
                "ignore",
            ]);
        }
        2 | 3 => return Err("holds trades (time, price, amount), not bars".into()),
        n => {
            return Err(format!(
                "has no header, and {n} columns after the time: 4, 5, 6, 8, 10 or 11 are known"
            ));
        }
    }
    columns.unused = unused.into_iter().map(str::to_owned).collect();
    let digits = date.bytes().all(|b| b.is_ascii_digit());
    columns.vendor = match numbers {
        _ if lean => Some(Vendor::Lean),
        5 if split => Some(Vendor::MetaTrader),
        5 if delimiter == Some(b';') && date.len() == 15 => Some(Vendor::NinjaTrader),
        6 if digits => Some(Vendor::Kraken),
        11 if digits => Some(Vendor::Binance),
        _ => None,
    };
    Ok((found, said))
}

/// Whether a row is a bar if its prices are in this order.
fn is_bar(row: &Row, at: usize, order: &[usize; 4]) -> bool {
    let price = |i: usize| numbers::plain(row.cell(at + order[i]));
    let (Some(open), Some(high), Some(low), Some(close)) = (price(0), price(1), price(2), price(3)) else {
        return false;
    };
    low <= open.min(close) && high >= open.max(close)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(line: &str, n: usize) -> Vec<Row> {
        let mut row = Row::default();
        line.split(',').for_each(|c| row.push(c));
        vec![row; n]
    }

    #[test]
    fn layouts_by_number_and_order() {
        let (found, said) = columns(&rows("1546300800,500,3,9,2,5", 20), Some(b','), false).unwrap();
        assert_eq!((found.bid, found.columns.volume), ([2, 3, 4, 5].map(Some), Some(1)));
        assert!(said.unwrap().contains("volume, open, high"));
        // Too few rows to believe it: the usual order, which the checks refuse.
        let (found, said) = columns(&rows("1546300800,500,3,9,2,5", 19), Some(b','), false).unwrap();
        assert_eq!((found.bid, said), ([1, 2, 3, 4].map(Some), None));
        let (found, _) = columns(&rows("0,1,1,1,1,9,2,2,2,2,9", 3), Some(b','), true).unwrap();
        assert_eq!((found.columns.vendor, found.ask), (Some(Vendor::Lean), [6, 7, 8, 9].map(Some)));
        for (line, words) in [
            ("1546300800,1,2", "holds trades"),
            ("2007-01-01,1,2,3,4,5,6,7", "7 columns"),
            ("43831,1,2,3,4", "number of a day"),
            ("x,1,2,3,4", "no date or time"),
        ] {
            assert!(columns(&rows(line, 1), Some(b','), false).unwrap_err().contains(words), "{line}");
        }
    }
}
