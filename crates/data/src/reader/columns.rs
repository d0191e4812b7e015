//! Which column is what: by the header's names, or by number and content where there is no header.

use super::delimited::Cells;
use crate::stamp;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Stamp,
    Symbol,
    Bid(usize),
    Ask(usize),
    Volume,
}

/// Names of the four prices, in the order of [`Role::Bid`] and [`Role::Ask`].
pub(crate) const PRICES: [&str; 4] = ["open", "high", "low", "close"];

/// Where each thing is in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) stamp: usize,
    pub(crate) time_of_day: Option<usize>,
    pub(crate) symbol: Option<usize>,
    pub(crate) bid: [usize; 4],
    pub(crate) ask: Option<[usize; 4]>,
    pub(crate) volume: Option<usize>,
    pub(crate) unused: Vec<String>,
    /// The convention that this layout belongs to, if it is a known vendor's.
    pub(crate) vendor: Option<Vendor>,
}

/// Layouts whose stamp convention is documented by who writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    /// OHLCVT without header: stamps are opens.
    Kraken,
    /// `Time` or `Gmt time` with day-first stamps to the millisecond: stamps are opens.
    Dukascopy,
    /// Date and time in two columns: stamps are opens.
    MetaTrader,
    /// Semicolons, no header, compact stamps: stamps are closes.
    NinjaTrader,
}

impl Vendor {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kraken => "Kraken OHLCVT layout",
            Self::Dukascopy => "Dukascopy layout",
            Self::MetaTrader => "MetaTrader layout",
            Self::NinjaTrader => "NinjaTrader layout",
        }
    }
}

/// What a header name means, or `None` for a column that is not used.
fn role(name: &str) -> Option<Role> {
    let name: String = name
        .trim()
        .trim_matches(|c| c == '<' || c == '>')
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if let Some(role) = price(&name).map(Role::Bid) {
        return Some(role);
    }
    for (side, of) in [("bid", Role::Bid as fn(usize) -> Role), ("ask", Role::Ask as fn(usize) -> Role)] {
        let rest = name.strip_prefix(side).or_else(|| name.strip_suffix(side));
        if let Some(field) = rest.and_then(price) {
            return Some(of(field));
        }
    }
    match name.as_str() {
        "timestamp" | "date" | "datetime" | "time" | "gmttime" | "localtime" | "opentime" | "ts" | "unix"
        | "unixs" | "unixms" => Some(Role::Stamp),
        "symbol" | "ticker" | "instrument" => Some(Role::Symbol),
        "volume" | "v" | "vol" => Some(Role::Volume),
        _ => None,
    }
}

fn price(name: &str) -> Option<usize> {
    match name {
        "last" => Some(3),
        _ => PRICES.iter().position(|p| *p == name || p[..1] == *name),
    }
}

/// Whether a first row is a header: it has letters, and no cell of it is a number or a stamp.
pub(crate) fn is_header(cells: &Cells<'_>) -> bool {
    let letters = cells.iter().any(|c| c.bytes().any(|b| b.is_ascii_alphabetic()));
    letters && !cells.iter().any(|c| super::delimited::decimal(c).is_some() || stamp::looks_like_stamp(c))
}

/// Columns by a header's names.
///
/// # Errors
/// What is missing or twofold, in words.
pub(crate) fn from_header(header: &Cells<'_>, first: &Cells<'_>) -> Result<Columns, String> {
    let mut columns = Columns::default();
    let (mut stamps, mut bid, mut ask) = (Vec::new(), [None; 4], [None; 4]);
    let twice = |name: &str| format!("has two columns for one thing: the second is \"{name}\"");
    for (at, name) in header.iter().enumerate() {
        let slot = match role(name) {
            Some(Role::Stamp) => {
                stamps.push((at, name));
                continue;
            }
            Some(Role::Bid(field)) => &mut bid[field],
            Some(Role::Ask(field)) => &mut ask[field],
            Some(Role::Symbol) => &mut columns.symbol,
            Some(Role::Volume) => &mut columns.volume,
            None => {
                columns.unused.push(if name.is_empty() {
                    format!("#{}", at + 1)
                } else {
                    (*name).to_owned()
                });
                continue;
            }
        };
        if slot.replace(at).is_some() {
            return Err(twice(name));
        }
    }
    match stamps.as_slice() {
        [(at, name)] => {
            columns.stamp = *at;
            let day_first = first.get(*at).is_some_and(|s| s.contains('.') && s.contains(':'));
            let dukascopy = matches!(name.to_ascii_lowercase().as_str(), "time" | "gmt time" | "local time");
            columns.vendor = (day_first && dukascopy).then_some(Vendor::Dukascopy);
        }
        [(date, _), (time, _)] if first.get(*time).is_some_and(|t| stamp::looks_like_time(t)) => {
            (columns.stamp, columns.time_of_day) = (*date, Some(*time));
            columns.vendor = Some(Vendor::MetaTrader);
        }
        [] => return Err("has no column for the time".into()),
        [_, (_, name), ..] => return Err(twice(name)),
    }
    columns.bid = all(bid, if ask.iter().any(Option::is_some) { "bid_" } else { "" })?;
    if ask.iter().any(Option::is_some) {
        columns.ask = Some(all(ask, "ask_")?);
    }
    Ok(columns)
}

fn all(found: [Option<usize>; 4], side: &str) -> Result<[usize; 4], String> {
    let mut out = [0; 4];
    for (field, slot) in out.iter_mut().enumerate() {
        *slot = found[field].ok_or_else(|| format!("has no column {side}{}", PRICES[field]))?;
    }
    Ok(out)
}

/// Columns of a file without header, by how many numbers follow the stamp: 4 prices; 5 with volume; 6 with volume and
/// trade count; 8 for bid and ask prices. An unusual order shows as high below low in the checks.
///
/// # Errors
/// What does not fit, in words.
pub(crate) fn from_content(first: &Cells<'_>, delimiter: u8) -> Result<Columns, String> {
    let date = first.first().copied().unwrap_or_default();
    if !stamp::looks_like_stamp(date) {
        return Err("has no header, and its first column is no date or time".into());
    }
    let split = first.get(1).is_some_and(|t| stamp::looks_like_time(t));
    let at = if split { 2 } else { 1 };
    let mut columns = Columns { time_of_day: split.then_some(1), ..Columns::default() };
    columns.bid = std::array::from_fn(|i| at + i);
    let numbers = first.len() - at.min(first.len());
    match numbers {
        4 => {}
        // MetaTrader counts ticks there, which are no lots.
        5 if split => columns.unused.push("tick volume".into()),
        5 => columns.volume = Some(at + 4),
        6 => {
            columns.volume = Some(at + 4);
            columns.unused.push("trades".into());
        }
        8 => columns.ask = Some(std::array::from_fn(|i| at + 4 + i)),
        n => return Err(format!("has no header, and {n} columns after the time: 4, 5, 6 or 8 are known")),
    }
    columns.vendor = match numbers {
        5 if split => Some(Vendor::MetaTrader),
        5 if delimiter == b';' && date.len() == 15 => Some(Vendor::NinjaTrader),
        6 if date.bytes().all(|b| b.is_ascii_digit()) => Some(Vendor::Kraken),
        _ => None,
    };
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_names_of_several_vendors() {
        let quote = [
            "timestamp",
            "bid_open",
            "BidHigh",
            "bid low",
            "close_bid",
            "ask_open",
            "ask_high",
            "ask_low",
            "ask_close",
        ];
        let columns = from_header(&quote.to_vec(), &vec!["2007-01-01"]).unwrap();
        assert_eq!((columns.bid, columns.ask), ([1, 2, 3, 4], Some([5, 6, 7, 8])));
        let short = ["timestamp", "o", "h", "l", "c", "v"];
        assert_eq!(from_header(&short.to_vec(), &vec!["2007-01-01"]).unwrap().volume, Some(5));
        let mt5 =
            ["<DATE>", "<TIME>", "<OPEN>", "<HIGH>", "<LOW>", "<CLOSE>", "<TICKVOL>", "<VOL>", "<SPREAD>"];
        let columns = from_header(&mt5.to_vec(), &vec!["2007.02.12", "11:36:00"]).unwrap();
        assert_eq!((columns.time_of_day, columns.volume), (Some(1), Some(7)));
        assert_eq!(columns.unused, ["<TICKVOL>", "<SPREAD>"]); // ticks are no lots
        let swapped = ["Date", "Open", "Close", "High", "Low", "Volume"];
        assert_eq!(from_header(&swapped.to_vec(), &vec!["11/5/2019 9:30"]).unwrap().bid, [1, 3, 4, 2]);
    }

    #[test]
    fn missing_and_twofold_columns_are_named() {
        let missing = from_header(&vec!["date", "open", "high", "low"], &vec!["2007-01-01"]);
        assert_eq!(missing, Err("has no column close".into()));
        let twice = from_header(&vec!["date", "open", "o", "high", "low", "close"], &vec!["2007-01-01"]);
        assert!(twice.unwrap_err().contains("\"o\""));
        assert!(from_content(&vec!["2007-01-01", "1", "2"], b',').unwrap_err().contains("2 columns"));
    }
}
