//! Rows of texts to rows of exact numbers, one after the other.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use rust_decimal::Decimal;

use super::{
    columns::{PRICES, Vendor},
    head::{self, Head},
    numbers::{self, DecimalMark},
    row::{Facts, Row, Rows},
};
use crate::{
    checks::{Collector, RawBar, Understood, Volume},
    error::DataError,
    instrument::{Instrument, zone},
    load::LoadOptions,
    open::Origin,
    source::{Basis, StampSide},
    stamp::{self, StampFormat},
};

/// Symbols that a refusal names.
const NAMED_SYMBOLS: usize = 12;
/// Rows that are looked through for symbols, to name them.
const SYMBOL_ROWS: usize = 100_000;

/// A format's rows and what is known of them.
pub(crate) struct Table<'r, 'a> {
    pub(crate) rows: &'r mut dyn Rows,
    pub(crate) head: Head,
    pub(crate) facts: Facts,
    pub(crate) origin: &'a Origin,
    /// Name of the innermost file.
    pub(crate) name: &'a str,
}

impl<'a> Table<'_, 'a> {
    /// Reads every row and hands it to the checks.
    ///
    /// # Errors
    /// [`DataError`] naming line and field of the first thing that cannot be read.
    pub(crate) fn read(
        mut self,
        instrument: Instrument,
        options: &LoadOptions,
    ) -> Result<(Collector<'a>, Understood), DataError> {
        let symbol = self.symbol(options)?;
        let format = head::stamps(&mut self.head, self.rows, self.origin, options, self.name)?;
        let (time_zone, zone) = self.zone(format, &instrument, options)?;
        let path = self.origin.path.as_str();
        let mut all = Collector::new(path, instrument, options.range_policy);
        let mut row = Row::default();
        loop {
            match self.head.rows.pop_front() {
                Some(first) => row = first,
                None if self.rows.next(&mut row)? => {}
                None => break,
            }
            if let (Some(at), Some(wanted)) = (self.head.columns.symbol, symbol.as_deref())
                && row.cell(at) != wanted
            {
                if options.symbol.is_none() && self.chosen(options, wanted).is_none() {
                    return Err(self.several(&row, at, wanted));
                }
                continue;
            }
            if let Some(bar) = self.bar(&row, format, &zone, &mut all)? {
                all.push(&bar)?;
            }
        }
        if all.is_empty() {
            let (problem, fix) = match &symbol {
                Some(wanted) => {
                    (format!("has no row of symbol {wanted:?} with prices"), "name a symbol of the file")
                }
                None => ("has no row with prices".to_owned(), "give a file with bars"),
            };
            return Err(DataError::file(path, problem, fix));
        }
        all.repairs.lines_skipped = self.rows.lines_skipped();
        Ok((all, self.understood(format, time_zone)))
    }

    /// The symbol whose rows are read, where the file has the column: the one that is asked for, else the first.
    fn symbol(&self, options: &LoadOptions) -> Result<Option<String>, DataError> {
        let Some(at) = self.head.columns.symbol else { return Ok(None) };
        let first = self.head.rows.front().map_or("", |r| r.cell(at));
        let Some(wanted) = &options.symbol else {
            let of_instrument =
                self.head.rows.iter().map(|r| r.cell(at)).find_map(|s| self.chosen(options, s));
            return Ok(Some(of_instrument.unwrap_or_else(|| first.to_owned())));
        };
        Ok(Some(wanted.clone()))
    }

    /// The symbol, if it is the name of the instrument that the caller gave: `EURUSD` is EUR/USD.
    fn chosen(&self, options: &LoadOptions, symbol: &str) -> Option<String> {
        let plain = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_uppercase()).collect()
        };
        let given = options.instrument.as_ref().filter(|i| plain(&i.name) == plain(symbol));
        given.map(|_| symbol.to_owned())
    }

    /// The refusal of a file of several symbols, which names them.
    fn several(&mut self, row: &Row, at: usize, first: &str) -> DataError {
        let mut symbols: BTreeSet<String> = [first.to_owned(), row.cell(at).to_owned()].into();
        symbols.extend(self.head.rows.iter().map(|r| r.cell(at).to_owned()));
        let mut next = Row::default();
        for _ in 0..SYMBOL_ROWS {
            if symbols.len() > NAMED_SYMBOLS || !self.rows.next(&mut next).unwrap_or(false) {
                break;
            }
            symbols.insert(next.cell(at).to_owned());
        }
        let more = if symbols.len() > NAMED_SYMBOLS { ", …" } else { "" };
        let all: Vec<String> = symbols.into_iter().take(NAMED_SYMBOLS).collect();
        let fix = format!("say which symbol to load: {}{more}", all.join(", "));
        DataError::cell(&self.origin.path, (row.line, "symbol"), row.cell(at), "holds several symbols", fix)
    }

    /// One row's numbers; `None` where all its prices are missing.
    fn bar(
        &self,
        row: &Row,
        format: StampFormat,
        zone: &TimeZone,
        all: &mut Collector<'_>,
    ) -> Result<Option<RawBar>, DataError> {
        let columns = &self.head.columns;
        let mut prices = columns.bid.iter().chain(columns.ask.iter().flatten());
        if prices.all(|&at| numbers::is_missing(row.cell(at))) {
            all.repairs.rows_without_prices += 1;
            return Ok(None);
        }
        let joined;
        let text = match columns.time_of_day {
            Some(_) => {
                joined = head::stamp_text(row, columns);
                joined.as_str()
            }
            None => row.cell(columns.stamp),
        };
        let (stamp_ns, repeated) = stamp::parse(text, format, zone, all.before()).map_err(|problem| {
            let fix = "mend the stamp or remove the row";
            DataError::cell(&self.origin.path, (row.line, "timestamp"), text, problem, fix)
        })?;
        all.repairs.wall_times_repeated += u64::from(repeated);
        let mut cleaned = 0;
        let mut side = |side: &str, at: &[usize; 4]| -> Result<[Decimal; 4], DataError> {
            let mut prices = [Decimal::ZERO; 4];
            for (field, price) in prices.iter_mut().enumerate() {
                let (value, decorated) = self.number(row, (side, PRICES[field]), at[field])?;
                *price = value;
                cleaned += u64::from(decorated);
            }
            Ok(prices)
        };
        let bid = side(if columns.ask.is_some() { "bid_" } else { "" }, &columns.bid)?;
        let ask = columns.ask.as_ref().map(|at| side("ask_", at)).transpose()?;
        let volume = match columns.volume {
            None => Volume::None,
            Some(at) if numbers::is_missing(row.cell(at)) => Volume::Missing,
            Some(at) => {
                let (value, decorated) = self.number(row, ("", "volume"), at)?;
                cleaned += u64::from(decorated);
                Volume::Of(value)
            }
        };
        all.repairs.numbers_cleaned += cleaned;
        Ok(Some(RawBar { line: row.line, stamp_ns, bid, ask, volume }))
    }

    fn number(
        &self,
        row: &Row,
        (side, field): (&str, &str),
        at: usize,
    ) -> Result<(Decimal, bool), DataError> {
        let text = row.cell(at);
        numbers::number(text, self.head.mark).ok_or_else(|| {
            let (problem, fix) = if text.is_empty() {
                ("is an empty cell", "mend the cell or remove the row; missing prices are never filled in")
            } else if text.starts_with('#') {
                ("is a spreadsheet's sign of an error", "mend the sheet and save it again")
            } else if text.contains(',') && self.head.mark == DecimalMark::Point {
                ("is not a number", "write decimals with a point, or say that they have a comma")
            } else {
                ("is not a number", "mend the cell or remove the row; missing prices are never filled in")
            };
            DataError::cell(&self.origin.path, (row.line, &format!("{side}{field}")), text, problem, fix)
        })
    }

    fn zone(
        &self,
        format: StampFormat,
        instrument: &Instrument,
        options: &LoadOptions,
    ) -> Result<((String, Basis), TimeZone), DataError> {
        let (name, basis) = match &options.time_zone {
            _ if format.is_absolute() => ("UTC", Basis::InFile),
            Some(given) => (given.as_str(), Basis::Given),
            None if self.head.columns.in_utc => ("UTC", Basis::InFile),
            None => (instrument.stamp_time_zone.as_str(), Basis::Assumed),
        };
        let zone = zone(name).ok_or_else(|| {
            let problem = format!("cannot be read in time zone {name:?}");
            DataError::file(&self.origin.path, problem, "use an IANA name such as America/New_York")
        })?;
        Ok(((name.to_owned(), basis), zone))
    }

    fn understood(self, format: StampFormat, time_zone: (String, Basis)) -> Understood {
        let Self { head, facts, origin, .. } = self;
        let mut columns = head.columns;
        columns.unused.extend(facts.unread);
        let mut words = facts.format;
        if facts.delimiter.is_some() {
            words.push_str(if head.has_header { " with header" } else { " without header" });
            if head.mark == DecimalMark::Comma {
                words.push_str(", decimal commas");
            }
        }
        match columns.vendor {
            Some(vendor) => words.push_str(&format!(", {}", vendor.name())),
            None if columns.ask.is_some() => words.push_str(", quote bars"),
            None => {}
        }
        for packing in origin.packing.iter().rev() {
            words.push_str(&format!(", {packing}"));
        }
        let vendor_side = columns.vendor.map(|vendor| match vendor {
            Vendor::NinjaTrader => StampSide::Close,
            _ => StampSide::Open,
        });
        let in_file = columns.stamp_is_close.then_some((StampSide::Close, Basis::InFile));
        let known = facts.stamp_side.or(vendor_side).map(|side| (side, Basis::Known));
        Understood {
            format: words,
            stamp_format: format.describe(),
            stamp_side: in_file.or(known),
            bar_seconds: facts.bar_seconds,
            time_zone,
            columns: head.used,
            columns_unused: columns.unused,
            notes: head.notes,
        }
    }
}
