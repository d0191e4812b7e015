//! Columns by a header's names.

use super::{
    columns::{Columns, Field, Found, PRICES, Vendor},
    numbers,
    row::Row,
};
use crate::stamp;

/// Whether a first row is a header: it has letters, and no cell of it is a number or a stamp.
pub(crate) fn is_header(row: &Row) -> bool {
    let letters = row.cells().any(|c| c.chars().any(char::is_alphabetic));
    letters && !row.cells().any(|c| numbers::plain(c).is_some() || stamp::looks_like_stamp(c))
}

/// A name in small letters and digits alone, without a number before it: `<Open Time>` is `opentime`, `1. open` is `open`.
fn plain(name: &str) -> String {
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// What a name means and how well it says so (0 best), or `None` for a column that is not used. Adjusted prices are not
/// used: they were never traded.
fn meaning(name: &str) -> Option<(Field, u8)> {
    let name = plain(name);
    if let Some((field, rank)) = price(&name) {
        return Some((Field::Bid(field), rank));
    }
    for (side, of) in [("bid", Field::Bid as fn(usize) -> Field), ("ask", Field::Ask as fn(usize) -> Field)] {
        let rest = name.strip_prefix(side).or_else(|| name.strip_suffix(side));
        if let Some((field, 0)) = rest.and_then(price) {
            return Some((of(field), 0));
        }
    }
    let stamp = |rank| Some((Field::Time, rank));
    match name.as_str() {
        "opentime" | "starttime" | "start" | "tsevent" | "windowstart" | "timeopen" | "openns" | "begin" => {
            stamp(0)
        }
        "unix" | "unixs" | "unixms" | "unixtimestamp" | "unixtime" | "epoch" | "timestampms" => stamp(1),
        "timestamp" | "datetime" | "gmttime" | "localtime" | "ts" | "timeutc" | "dateutc"
        | "timestamputc" | "t" => stamp(2),
        "date" | "day" | "tradedate" | "dt" | "ymd" | "dtyyyymmdd" => stamp(3),
        "time" | "hms" => stamp(4),
        "closetime" | "endtime" | "timeclose" | "end" => stamp(9),
        "symbol" | "ticker" | "sym" | "s" | "pair" => Some((Field::Symbol, 0)),
        "instrument" | "asset" => Some((Field::Symbol, 1)),
        "instrumentid" => Some((Field::Symbol, 2)),
        "volume" | "v" => Some((Field::Volume, 0)),
        "vol" | "basevolume" | "volumebase" | "totalvolume" | "sharevolume" => Some((Field::Volume, 1)),
        _ if name.starts_with("volume") => Some((Field::Volume, 2)),
        _ => None,
    }
}

fn price(name: &str) -> Option<(usize, u8)> {
    match name {
        "last" | "closelast" | "lastprice" => return Some((3, 1)),
        "price" | "settle" | "settlement" => return Some((3, 2)),
        _ => {}
    }
    let short = name.strip_suffix("price").or_else(|| name.strip_prefix("price")).filter(|n| !n.is_empty());
    let short = short.unwrap_or(name);
    PRICES.iter().position(|p| *p == short || (p[..1] == *short && short == name)).map(|field| (field, 0))
}

/// What a header's names say; `first` is the row below it, and columns named in `extra` are known to be no part of a bar.
///
/// # Errors
/// What is twofold, in words.
pub(crate) fn columns(header: &Row, first: &Row, extra: &[String]) -> Result<Found, String> {
    let own = |name: &str| extra.iter().any(|e| e == name);
    let meanings: Vec<Option<(Field, u8)>> =
        header.cells().map(|name| meaning(name).filter(|_| !own(name))).collect();
    let mut found = Found::default();
    let mut used = vec![false; header.len()];
    let best = |field: Field| -> Result<Option<usize>, String> {
        let rank = |m: &Option<(Field, u8)>| m.filter(|(f, _)| *f == field).map(|(_, rank)| rank);
        let Some(top) = meanings.iter().filter_map(rank).min() else { return Ok(None) };
        let mut at = (0..meanings.len()).filter(|&i| rank(&meanings[i]) == Some(top));
        let chosen = at.next();
        match at.next() {
            // Of several volumes (`Volume BTC`, `Volume USD`) vendors put the base unit first.
            Some(second) if !(field == Field::Volume && top == 2) => {
                Err(format!("has two columns for one thing: the second is \"{}\"", header.cell(second)))
            }
            _ => Ok(chosen),
        }
    };
    let Found { columns, bid, ask, stamp } = &mut found;
    for field in 0..4 {
        bid[field] = best(Field::Bid(field))?;
        ask[field] = best(Field::Ask(field))?;
    }
    (columns.symbol, columns.volume) = (best(Field::Symbol)?, best(Field::Volume)?);
    // The time: date and clock in two columns, or the best of those that say it alone.
    let mut stamps: Vec<(u8, usize)> = meanings
        .iter()
        .enumerate()
        .filter_map(|(at, m)| m.filter(|(f, _)| *f == Field::Time).map(|(_, rank)| (rank, at)))
        .collect();
    stamps.sort_unstable();
    let is_clock = |at: usize| {
        let compact = meanings[at].is_some_and(|(_, rank)| rank == 4);
        stamp::is_time_of_day(first.cell(at), compact)
    };
    let clock = stamps.iter().find(|(rank, at)| *rank != 9 && is_clock(*at)).map(|s| s.1);
    match stamps.iter().filter(|s| Some(s.1) != clock).collect::<Vec<_>>().as_slice() {
        [] => {}
        [(rank, at), rest @ ..] => {
            if let Some((_, second)) = rest.iter().find(|(other, _)| other == rank) {
                return Err(format!(
                    "has two columns for one thing: the second is \"{}\"",
                    header.cell(*second)
                ));
            }
            *stamp = Some(*at);
            columns.stamp_is_close = *rank == 9;
            let date_alone = !first.cell(*at).contains(':') && stamp::looks_like_date(first.cell(*at));
            columns.time_of_day = clock.filter(|_| date_alone);
            let name = header.cell(*at).to_ascii_lowercase();
            columns.in_utc = name.contains("utc") || name.contains("gmt");
        }
    }
    columns.vendor = vendor(header, first, columns, *stamp);
    for at in [*stamp, columns.time_of_day, columns.symbol, columns.volume]
        .into_iter()
        .chain(*bid)
        .chain(*ask)
        .flatten()
    {
        used[at] = true;
    }
    let unnamed = |at: usize| {
        if header.cell(at).is_empty() { format!("#{}", at + 1) } else { header.cell(at).to_owned() }
    };
    columns.unused = (0..header.len()).filter(|&at| !used[at]).map(unnamed).collect();
    Ok(found)
}

fn vendor(header: &Row, first: &Row, columns: &Columns, stamp: Option<usize>) -> Option<Vendor> {
    let at = stamp?;
    let (name, text) = (header.cell(at).to_ascii_lowercase(), first.cell(at));
    if text.contains('.') && text.contains(':') && matches!(name.as_str(), "time" | "gmt time" | "local time")
    {
        return Some(Vendor::Dukascopy);
    }
    if columns.time_of_day.is_some() && header.cells().all(|c| c.starts_with('<')) {
        return Some(Vendor::MetaTrader);
    }
    let has = |name: &str| header.cells().any(|c| plain(c) == name);
    (has("opentime") && has("takerbuybaseassetvolume")).then_some(Vendor::Binance)
}

/// Whether names are those of trades: a price and an amount, and no bar.
pub(crate) fn is_trades(header: &Row) -> bool {
    let any = |names: &[&str]| header.cells().any(|c| names.contains(&plain(c).as_str()));
    any(&["price"])
        && any(&["amount", "qty", "size", "quantity", "side", "type", "direction", "action"])
        && !any(&["open", "high", "low"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &str) -> Row {
        let mut row = Row::default();
        cells.split(',').for_each(|c| row.push(c));
        row
    }

    fn read(header: &str, first: &str) -> Result<Columns, String> {
        columns(&row(header), &row(first), &[]).and_then(Found::finish)
    }

    #[test]
    fn header_names_of_several_vendors() {
        let quote = "timestamp,bid_open,BidHigh,bid low,close_bid,ask_open,ask_high,ask_low,ask_close";
        let columns = read(quote, "2007-01-01").unwrap();
        assert_eq!((columns.bid, columns.ask), ([1, 2, 3, 4], Some([5, 6, 7, 8])));
        assert_eq!(read("timestamp,o,h,l,c,v", "2007-01-01").unwrap().volume, Some(5));
        let mt5 = "<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<TICKVOL>,<VOL>,<SPREAD>";
        let columns = read(mt5, "2007.02.12,11:36:00").unwrap();
        assert_eq!((columns.time_of_day, columns.volume), (Some(1), Some(7)));
        assert_eq!(columns.unused, ["<TICKVOL>", "<SPREAD>"]); // ticks are no lots
        assert_eq!(columns.vendor, Some(Vendor::MetaTrader));
        let swapped = read("Date,Open,Close,High,Low,Volume", "11/5/2019 9:30").unwrap();
        assert_eq!(swapped.bid, [1, 3, 4, 2]);
        let stooq = read(
            "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>",
            "A,5,20230103,153000",
        );
        let stooq = stooq.unwrap();
        assert_eq!((stooq.stamp, stooq.time_of_day, stooq.symbol), (2, Some(3), Some(0)));
        let coins =
            read("unix,date,symbol,open,high,low,close,Volume BTC,Volume USD", "1577836800,2020-01-01")
                .unwrap();
        assert_eq!((coins.stamp, coins.volume), (0, Some(7)));
        assert_eq!(coins.unused, ["date", "Volume USD"]);
        let web = read("Date,Price,Open,High,Low,Vol.,Change %", "03/11/2020").unwrap();
        assert_eq!((web.bid, web.volume), ([2, 3, 4, 1], Some(5)));
        let yahoo = read("Date,Open,High,Low,Close,Adj Close,Volume", "2020-01-01").unwrap();
        assert_eq!((yahoo.bid, yahoo.unused.as_slice()), ([1, 2, 3, 4], &["Adj Close".to_owned()][..]));
        let klines = read("open time,open,high,low,close,close time", "1577836800").unwrap();
        assert_eq!((klines.stamp, klines.stamp_is_close), (0, false));
        assert!(read("close time,open,high,low,close", "1577836800").unwrap().stamp_is_close);
    }

    #[test]
    fn missing_and_twofold_columns_are_named() {
        assert_eq!(read("date,open,high,low", "2007-01-01"), Err("has no column close".into()));
        assert!(read("date,open,o,high,low,close", "2007-01-01").unwrap_err().contains("\"o\""));
        assert!(
            read("date,date,open,high,low,close", "2007-01-01,2007-01-01")
                .unwrap_err()
                .contains("two columns")
        );
        assert!(is_trades(&row("id,price,amount,type")) && !is_trades(&row("date,price,open,high,low")));
    }
}
