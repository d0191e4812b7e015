//! Where each thing is in a row, and what the caller says about that.

use super::row::Row;

/// Names of the four prices.
pub(crate) const PRICES: [&str; 4] = ["open", "high", "low", "close"];

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The bar's stamp, or its date.
    Time,
    /// Time of day, beside a date.
    TimeOfDay,
    /// Name of what is traded, in files of several.
    Symbol,
    /// Open, high, low or close (0 to 3): of trades, or of the bid.
    Bid(usize),
    /// Open, high, low or close of the ask.
    Ask(usize),
    /// Traded volume.
    Volume,
}

impl Field {
    /// A field by its name: `time`, `clock`, `symbol`, `open` … `close`, `bid_open` … `ask_close`, `volume`.
    pub fn by_name(name: &str) -> Option<Self> {
        let price = |name: &str| PRICES.iter().position(|p| *p == name);
        match name {
            "time" => Some(Self::Time),
            "clock" => Some(Self::TimeOfDay),
            "symbol" => Some(Self::Symbol),
            "volume" => Some(Self::Volume),
            _ => None
                .or_else(|| price(name).map(Self::Bid))
                .or_else(|| name.strip_prefix("bid_").and_then(price).map(Self::Bid))
                .or_else(|| name.strip_prefix("ask_").and_then(price).map(Self::Ask)),
        }
    }
}

/// Columns that the caller names, such as `time=Date,close=Last,volume=none`: a header's name, or `#3` for the third column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnMap(Vec<(Field, String)>);

impl std::str::FromStr for ColumnMap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut map = Vec::new();
        for part in text.split(',').filter(|p| !p.trim().is_empty()) {
            let wrong = || {
                format!(
                    "'{}' names no column: write FIELD=COLUMN with a field of time, clock, symbol, open, high, low, close, \
                     bid_open … ask_close, volume, and a name of the header or #1, #2, …",
                    part.trim()
                )
            };
            let (field, column) = part.split_once('=').ok_or_else(wrong)?;
            let field = Field::by_name(field.trim()).ok_or_else(wrong)?;
            if map.iter().any(|(f, _)| *f == field) {
                return Err(format!("'{}' is said twice", part.trim()));
            }
            map.push((field, column.trim().to_owned()));
        }
        Ok(Self(map))
    }
}

/// Where each thing is in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) stamp: usize,
    pub(crate) time_of_day: Option<usize>,
    pub(crate) symbol: Option<usize>,
    pub(crate) bid: [usize; 4],
    pub(crate) ask: Option<[usize; 4]>,
    pub(crate) volume: Option<usize>,
    /// Columns that are no part of a bar and were asked for.
    pub(crate) extra: Vec<usize>,
    pub(crate) unused: Vec<String>,
    /// The convention that this layout belongs to, if it is a known vendor's.
    pub(crate) vendor: Option<Vendor>,
    /// The only stamp is named as the bar's end.
    pub(crate) stamp_is_close: bool,
    /// The header says that stamps are UTC.
    pub(crate) in_utc: bool,
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
    /// Klines, with or without header: stamps are opens.
    Binance,
    /// Milliseconds since midnight, the date in the file's name: stamps are opens.
    Lean,
}

impl Vendor {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kraken => "Kraken OHLCVT layout",
            Self::Dukascopy => "Dukascopy layout",
            Self::MetaTrader => "MetaTrader layout",
            Self::NinjaTrader => "NinjaTrader layout",
            Self::Binance => "Binance klines layout",
            Self::Lean => "QuantConnect Lean layout",
        }
    }
}

/// Columns as they are found, before all of them must be there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) columns: Columns,
    pub(crate) stamp: Option<usize>,
    pub(crate) bid: [Option<usize>; 4],
    pub(crate) ask: [Option<usize>; 4],
}

impl Found {
    /// Puts what the caller says in place of what was found. `names` are the header's.
    pub(crate) fn apply(&mut self, map: &ColumnMap, names: Option<&Row>, width: usize) -> Result<(), String> {
        for (field, column) in &map.0 {
            let at = if column == "none" {
                None
            } else if let Some(number) = column.strip_prefix('#').and_then(|n| n.parse::<usize>().ok()) {
                if number == 0 || number > width {
                    return Err(format!("has {width} columns and no column {column}"));
                }
                Some(number - 1)
            } else {
                let found = names.and_then(|n| n.cells().position(|c| c.eq_ignore_ascii_case(column)));
                Some(found.ok_or_else(|| match names {
                    Some(names) => {
                        let all: Vec<&str> = names.cells().collect();
                        format!("has no column named {column:?}, only {}", all.join(", "))
                    }
                    None => format!("has no header, so that no column is named {column:?}: write #1, #2, …"),
                })?)
            };
            match field {
                Field::Time => {
                    self.stamp = at;
                    (self.columns.time_of_day, self.columns.stamp_is_close) = (None, false);
                }
                Field::TimeOfDay => self.columns.time_of_day = at,
                Field::Symbol => self.columns.symbol = at,
                Field::Bid(i) => self.bid[*i] = at,
                Field::Ask(i) => self.ask[*i] = at,
                Field::Volume => self.columns.volume = at,
            }
        }
        // A close alone, if the caller says that it is one, is a bar without range.
        let said = |f: Field| map.0.iter().any(|(field, _)| *field == f);
        if said(Field::Bid(3)) && self.bid[..3].iter().all(Option::is_none) {
            self.bid = [self.bid[3]; 4];
        }
        Ok(())
    }

    /// All columns that bars need, or which is missing.
    pub(crate) fn finish(self) -> Result<Columns, String> {
        let Self { mut columns, stamp, bid, ask } = self;
        columns.stamp = stamp.ok_or("has no column for the time")?;
        let quotes = ask.iter().any(Option::is_some);
        columns.bid = all(bid, if quotes { "bid_" } else { "" })?;
        columns.ask = if quotes { Some(all(ask, "ask_")?) } else { None };
        Ok(columns)
    }
}

fn all(found: [Option<usize>; 4], side: &str) -> Result<[usize; 4], String> {
    let mut out = [0; 4];
    for (field, slot) in out.iter_mut().enumerate() {
        *slot = found[field].ok_or_else(|| format!("has no column {side}{}", PRICES[field]))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read_and_refused() {
        assert!("time=Date, close=Last,volume=none".parse::<ColumnMap>().is_ok());
        for (text, words) in
            [("Date", "names no column"), ("colour=red", "names no column"), ("open=a,open=b", "twice")]
        {
            assert!(text.parse::<ColumnMap>().unwrap_err().contains(words), "{text}");
        }
    }
}
