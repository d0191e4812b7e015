//! Delimited text: commas, semicolons or tabs, with or without header, any line ends.

use csv::{ReaderBuilder, StringRecord};
use jiff::tz::TimeZone;
use rust_decimal::Decimal;

use super::columns::{self, Columns, PRICES, Vendor};
use crate::{
    error::DataError,
    instrument::{Instrument, zone},
    load::LoadOptions,
    raw::{RawRow, RawTable},
    source::{Basis, StampSide},
    stamp::{self, StampFormat},
};

/// A row's cells, trimmed.
pub(crate) type Cells<'a> = Vec<&'a str>;

/// Delimiters in the order that wins a tie: commas last, for they may also be in numbers.
const DELIMITERS: [(u8, &str); 3] = [(b'\t', "tab"), (b';', "semicolon"), (b',', "comma")];
/// Lines that are looked at to tell the delimiter.
const SNIFFED_LINES: usize = 50;

/// Reads a whole file.
///
/// # Errors
/// [`DataError`] naming line and field of the first thing that cannot be read.
pub(crate) fn read(
    path: &str,
    bytes: &[u8],
    instrument: &Instrument,
    options: &LoadOptions,
) -> Result<RawTable, DataError> {
    let text = utf8(path, bytes)?;
    let delimiter = sniff(text);
    let records = split(path, text, delimiter)?;
    let [(first_line, first), ..] = records.as_slice() else {
        return Err(DataError::file(path, "has no rows", "give a file with bars"));
    };
    let has_header = columns::is_header(&cells(first));
    let rows = &records[usize::from(has_header)..];
    let Some((_, first_row)) = rows.first() else {
        return Err(DataError::file(path, "has a header and no rows", "give a file with bars"));
    };
    let columns = if has_header {
        columns::from_header(&cells(first), &cells(first_row))
    } else {
        columns::from_content(&cells(first_row), delimiter)
    }
    .map_err(|problem| {
        let fix = "name the columns in a header: timestamp, open, high, low, close, volume \
                   (or bid_open … ask_close), each once";
        DataError::line(path, *first_line, problem, fix)
    })?;
    let rows = of_symbol(path, rows, &columns, options.symbol.as_deref())?;
    read_rows(path, &rows, columns, Layout { delimiter, has_header }, instrument, options)
}

struct Layout {
    delimiter: u8,
    has_header: bool,
}

fn read_rows(
    path: &str,
    rows: &[&(u64, StringRecord)],
    columns: Columns,
    layout: Layout,
    instrument: &Instrument,
    options: &LoadOptions,
) -> Result<RawTable, DataError> {
    let texts: Vec<String> = rows.iter().map(|(_, record)| stamp_text(record, &columns)).collect();
    let format = match options.date_order {
        Some(order) => stamp::detect(texts.iter().map(String::as_str)).map_or_else(
            |_| StampFormat::Calendar { order, zoned: false },
            |found| match found {
                StampFormat::Calendar { zoned, .. } => StampFormat::Calendar { order, zoned },
                unix => unix,
            },
        ),
        None => stamp::detect(texts.iter().map(String::as_str)).map_err(|problem| {
            let (line, text) = (rows.first().map_or(1, |r| r.0), texts.first().map_or("", String::as_str));
            DataError::cell(
                path,
                (line, "timestamp"),
                text,
                problem,
                "say date_order, or write stamps like 2017-01-31 22:00:00",
            )
        })?,
    };
    let (time_zone, zone) = stamp_zone(path, format, instrument, options)?;
    // `after` settles which of two equal wall times a clock change means. In a newest-first file it cannot, and the two
    // come out as duplicates, which the checks refuse.
    let mut out = Vec::with_capacity(rows.len());
    let mut after = None;
    for ((line, record), text) in rows.iter().zip(texts) {
        let stamp_ns = stamp::parse(&text, format, &zone, after).map_err(|problem| {
            DataError::cell(path, (*line, "timestamp"), &text, problem, "mend the stamp or remove the row")
        })?;
        after = Some(stamp_ns);
        let prices = |side: &str, at: &[usize; 4]| -> Result<[Decimal; 4], DataError> {
            let mut prices = [Decimal::ZERO; 4];
            for (field, price) in prices.iter_mut().enumerate() {
                *price = number(path, *line, &format!("{side}{}", PRICES[field]), record, at[field])?;
            }
            Ok(prices)
        };
        out.push(RawRow {
            line: *line,
            stamp: text,
            stamp_ns,
            bid: prices(if columns.ask.is_some() { "bid_" } else { "" }, &columns.bid)?,
            ask: columns.ask.as_ref().map(|at| prices("ask_", at)).transpose()?,
            volume: columns.volume.map(|at| number(path, *line, "volume", record, at)).transpose()?,
        });
    }
    let vendor = columns.vendor;
    let quotes = columns.ask.is_some();
    let delimiter = DELIMITERS.iter().find(|d| d.0 == layout.delimiter).map_or("comma", |d| d.1);
    let header = if layout.has_header { "with header" } else { "without header" };
    let kind = match (vendor, quotes) {
        (Some(vendor), _) => format!(", {}", vendor.name()),
        (None, true) => ", quote bars".to_owned(),
        (None, false) => String::new(),
    };
    Ok(RawTable {
        rows: out,
        format: format!("{delimiter}-separated text {header}{kind}"),
        stamp_format: format.describe(),
        stamp_side: match vendor {
            Some(Vendor::NinjaTrader) => Some(StampSide::Close),
            Some(Vendor::Kraken | Vendor::Dukascopy | Vendor::MetaTrader) => Some(StampSide::Open),
            None => None,
        },
        time_zone,
        columns_unused: columns.unused,
    })
}

fn stamp_zone(
    path: &str,
    format: StampFormat,
    instrument: &Instrument,
    options: &LoadOptions,
) -> Result<((String, Basis), TimeZone), DataError> {
    let (name, basis) = match (format, &options.time_zone) {
        (StampFormat::Unix(_) | StampFormat::Calendar { zoned: true, .. }, _) => ("UTC", Basis::InFile),
        (_, Some(given)) => (given.as_str(), Basis::Given),
        (_, None) => (instrument.stamp_time_zone.as_str(), Basis::Assumed),
    };
    let zone = zone(name).ok_or_else(|| {
        DataError::file(
            path,
            format!("cannot be read in time zone {name:?}"),
            "use an IANA name such as America/New_York",
        )
    })?;
    Ok(((name.to_owned(), basis), zone))
}

fn utf8<'a>(path: &str, bytes: &'a [u8]) -> Result<&'a str, DataError> {
    std::str::from_utf8(bytes).map_err(|e| {
        let line = bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
        DataError::line(path, line, "is not UTF-8", "save the file as UTF-8")
    })
}

/// The delimiter that splits the first lines into the most cells, the same number in each.
fn sniff(text: &str) -> u8 {
    let lines: Vec<&str> =
        text.split(['\n', '\r']).filter(|l| !l.trim().is_empty()).take(SNIFFED_LINES).collect();
    let score = |delimiter: u8| {
        let counts = lines.iter().map(|l| l.bytes().filter(|&b| b == delimiter).count());
        let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
        (least == most && least > 0, least)
    };
    // `max_by_key` takes the last of equals, so the winner of a tie comes last.
    DELIMITERS.iter().rev().map(|d| d.0).max_by_key(|&d| score(d)).unwrap_or(b',')
}

fn split(path: &str, text: &str, delimiter: u8) -> Result<Vec<(u64, StringRecord)>, DataError> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut records = Vec::new();
    let mut width = None;
    let mut lines = Lines { text: text.as_bytes(), seen: 0, line: 1 };
    for record in reader.records() {
        let record = record.map_err(|e| {
            DataError::file(path, format!("cannot be split into rows ({e})"), "mend the file")
        })?;
        let line = lines.at(record.position().map_or(0, csv::Position::byte));
        if record.iter().all(str::is_empty) {
            continue; // a line of blanks or of delimiters alone
        }
        let expected = *width.get_or_insert(record.len());
        if record.len() != expected {
            let problem = format!("has {} columns, and the first line has {expected}", record.len());
            let fix = "make every row as wide as the first, and remove lines that are no bars";
            return Err(DataError::line(path, line, problem, fix));
        }
        records.push((line, record));
    }
    Ok(records)
}

/// Line numbers by byte offset. The csv crate's own count stands before the line ends that it skips next.
struct Lines<'a> {
    text: &'a [u8],
    seen: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line that the first content at or after `byte` is on; offsets must ascend.
    fn at(&mut self, byte: u64) -> u64 {
        let start = usize::try_from(byte).unwrap_or(usize::MAX).min(self.text.len());
        let blank = self.text[start..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        for at in self.seen..start + blank {
            let next = self.text.get(at + 1);
            let ends = self.text[at] == b'\n' || (self.text[at] == b'\r' && next != Some(&b'\n'));
            self.line += u64::from(ends);
        }
        self.seen = self.seen.max(start + blank);
        self.line
    }
}

/// The rows of one symbol, where a file holds several one below the other.
fn of_symbol<'a>(
    path: &str,
    rows: &'a [(u64, StringRecord)],
    columns: &Columns,
    wanted: Option<&str>,
) -> Result<Vec<&'a (u64, StringRecord)>, DataError> {
    let Some(at) = columns.symbol else { return Ok(rows.iter().collect()) };
    let symbol = |row: &(u64, StringRecord)| row.1.get(at).unwrap_or_default().to_owned();
    let first = rows.first().map(symbol).unwrap_or_default();
    let wanted = match wanted {
        Some(wanted) => wanted,
        None => match rows.iter().find(|r| symbol(r) != first) {
            None => &first,
            Some(row) => {
                let problem = "holds several symbols".to_owned();
                let (line, text) = (row.0, symbol(row));
                return Err(DataError::cell(
                    path,
                    (line, "symbol"),
                    &text,
                    problem,
                    "say which symbol to load",
                ));
            }
        },
    };
    let chosen: Vec<_> = rows.iter().filter(|r| r.1.get(at) == Some(wanted)).collect();
    if chosen.is_empty() {
        return Err(DataError::file(
            path,
            format!("has no rows of symbol {wanted:?}"),
            format!("the first is {first:?}"),
        ));
    }
    Ok(chosen)
}

fn cells(record: &StringRecord) -> Cells<'_> {
    record.iter().collect()
}

fn stamp_text(record: &StringRecord, columns: &Columns) -> String {
    let date = record.get(columns.stamp).unwrap_or_default();
    match columns.time_of_day.and_then(|at| record.get(at)) {
        Some(time) => format!("{date} {time}"),
        None => date.to_owned(),
    }
}

/// A decimal number as files write them, exact; scientific notation included. `None` for anything else.
pub(crate) fn decimal(text: &str) -> Option<Decimal> {
    if !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E')) {
        return None;
    }
    if text.bytes().any(|b| matches!(b, b'e' | b'E')) {
        return Decimal::from_scientific(text).ok();
    }
    text.parse().ok()
}

fn number(
    path: &str,
    line: u64,
    field: &str,
    record: &StringRecord,
    at: usize,
) -> Result<Decimal, DataError> {
    let text = record.get(at).unwrap_or_default();
    decimal(text).ok_or_else(|| {
        let problem = if text.is_empty() { "is an empty cell" } else { "is not a number" };
        let fix = if text.contains(',') {
            "write decimals with a point and no thousands separators"
        } else {
            "mend the cell or remove the row; missing prices are never filled in"
        };
        DataError::cell(path, (line, field), text, problem, fix)
    })
}
