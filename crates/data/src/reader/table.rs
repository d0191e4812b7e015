//! Rows of texts to rows of exact numbers, one after the other.

use jiff::tz::TimeZone;
use rust_decimal::Decimal;

use super::{
    columns::{PRICES, Vendor},
    head::{self, Head},
    numbers::{self, DecimalMark},
    row::{Facts, Row, Rows},
    symbols::{Choice, Symbols},
};
use crate::{
    checks::{Intake, RawBar, Sink, Understood, Volume},
    error::DataError,
    instrument::{Instrument, zone},
    load::LoadOptions,
    open::Origin,
    source::{Basis, StampSide},
    stamp::{self, StampFormat},
};

/// What to do about a volume that is no number.
const MISSING_VOLUME: &str = "mend the cell, or leave it empty: then none was traded";
/// What to do about a price that is no number.
const MISSING_PRICE: &str = "mend the cell or remove the row; missing prices are never filled in";
/// What to do about a value of another column that is no number.
const MISSING_EXTRA: &str = "mend the cell, or leave it empty: then the last value before it holds";

/// A format's rows and what is known of them.
pub(crate) struct Table<'r, 'a> {
    pub(crate) rows: &'r mut dyn Rows,
    pub(crate) head: Head,
    pub(crate) facts: Facts,
    pub(crate) origin: &'a Origin,
    /// Name of the innermost file.
    pub(crate) name: &'a str,
}

impl Table<'_, '_> {
    /// Reads every row, and hands it on to `sink` as integers.
    ///
    /// # Errors
    /// [`DataError`] naming line and field of the first thing that cannot be read.
    pub(crate) fn read(
        mut self,
        instrument: Instrument,
        options: &LoadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(Intake, Understood), DataError> {
        let first = |at: usize| self.head.rows.front().map_or("", |r| r.cell(at));
        let mut symbols = self.head.columns.symbol.map(|at| Symbols::new(at, first(at), options));
        let format = head::stamps(&mut self.head, self.rows, self.origin, options, self.name)?;
        let (time_zone, zone) = self.zone(format, &instrument, options)?;
        let path = self.origin.path.as_str();
        let bar_seconds = options.bar_seconds.or(self.facts.bar_seconds);
        let mut all = Intake::new(path, instrument.clone(), options.range_policy);
        sink.begin(bar_seconds);
        let mut row = Row::default();
        loop {
            match self.head.rows.pop_front() {
                Some(first) => row = first,
                None if self.rows.next(&mut row)? => {}
                None => break,
            }
            match symbols.as_mut().map_or(Choice::Take, |s| s.choose(&row)) {
                Choice::Take => {}
                Choice::Pass => continue,
                Choice::Restart => {
                    all = Intake::new(path, instrument.clone(), options.range_policy);
                    sink.begin(bar_seconds);
                }
                Choice::Refuse => break,
            }
            if let Some(bar) = self.bar(&row, format, &zone, &options.extra, &mut all)? {
                sink.take(&all.row(&bar)?)?;
            }
        }
        if let Some(refusal) = symbols.as_ref().and_then(|s| s.refusal(path)) {
            return Err(refusal);
        }
        if all.rows_read == 0 {
            let problem = symbols.map_or_else(|| "has no row with prices".to_owned(), |s| s.missing());
            return Err(DataError::file(path, problem, "give a file with bars, or another symbol of it"));
        }
        all.repairs.lines_skipped = self.rows.lines_skipped();
        all.symbol = symbols.map(Symbols::into_chosen);
        let extra = options.extra.clone();
        Ok((all, self.understood(format, time_zone, extra)))
    }

    /// One row's numbers; `None` where all its prices are missing.
    fn bar(
        &self,
        row: &Row,
        format: StampFormat,
        zone: &TimeZone,
        names: &[String],
        all: &mut Intake,
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
        let mut extra = Vec::with_capacity(columns.extra.len());
        for (name, &at) in names.iter().zip(&columns.extra) {
            if numbers::is_missing(row.cell(at)) {
                extra.push(f64::NAN);
                continue;
            }
            let value = numbers::float(row.cell(at), self.head.mark);
            let (value, decorated) = value.ok_or_else(|| self.no_number(row, name, at, MISSING_EXTRA))?;
            cleaned += u64::from(decorated);
            extra.push(value);
        }
        all.repairs.numbers_cleaned += cleaned;
        Ok(Some(RawBar { line: row.line, stamp_ns, bid, ask, volume, extra }))
    }

    fn number(
        &self,
        row: &Row,
        (side, field): (&str, &str),
        at: usize,
    ) -> Result<(Decimal, bool), DataError> {
        let fix = if field == "volume" { MISSING_VOLUME } else { MISSING_PRICE };
        numbers::number(row.cell(at), self.head.mark)
            .ok_or_else(|| self.no_number(row, &format!("{side}{field}"), at, fix))
    }

    /// The refusal of a cell; `fix` is what to do where nothing about it tells more.
    fn no_number(&self, row: &Row, field: &str, at: usize, fix: &str) -> DataError {
        let text = row.cell(at);
        let (problem, fix) = if text.is_empty() {
            ("is an empty cell", fix)
        } else if text.starts_with('#') {
            ("is a spreadsheet's sign of an error", "mend the sheet and save it again")
        } else if text.contains(',') && self.head.mark == DecimalMark::Point {
            (
                "is not a number",
                "write decimals with a point, or say that they have a comma with --decimal (data.decimal)",
            )
        } else if text.parse::<f64>().is_ok_and(|x| x.is_finite() && x.abs() >= 1e28) {
            ("is too large to be held", fix)
        } else {
            ("is not a number", fix)
        };
        DataError::cell(&self.origin.path, (row.line, field), text, problem, fix)
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
        let known = |name: &str| {
            zone(name).ok_or_else(|| {
                let problem = format!("cannot be read in time zone {name:?}");
                DataError::file(&self.origin.path, problem, "use an IANA name such as America/New_York")
            })
        };
        // A given name is checked where the stamps need none, too: whoever gave it has mistyped it.
        options.time_zone.as_deref().map(known).transpose()?;
        Ok(((name.to_owned(), basis), known(name)?))
    }

    fn understood(self, format: StampFormat, time_zone: (String, Basis), extra: Vec<String>) -> Understood {
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
            time_zone,
            columns: head.used,
            columns_unused: columns.unused,
            extra,
            notes: head.notes,
        }
    }
}
