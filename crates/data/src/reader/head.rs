//! The first rows of a file, and what they say about all others: columns, style of numbers, format of stamps.

use std::collections::VecDeque;

use super::{
    columns::{Columns, Field, PRICES, Vendor},
    extra, header, layout,
    numbers::{self, DecimalMark, Style},
    row::{Facts, Row, Rows},
};
use crate::{
    error::DataError,
    load::LoadOptions,
    open::Origin,
    stamp::{self, Sniffer, StampFormat, Verdict},
};

/// Rows that columns and numbers are told from.
const HEAD_ROWS: usize = 1_000;
/// Rows that are held until one tells the order of dates.
const UNCLEAR_ROWS: usize = 250_000;

/// What the first rows say, and the rows themselves.
pub(crate) struct Head {
    pub(crate) rows: VecDeque<Row>,
    pub(crate) columns: Columns,
    /// Used columns in words.
    pub(crate) used: Vec<String>,
    pub(crate) has_header: bool,
    pub(crate) mark: DecimalMark,
    pub(crate) notes: Vec<String>,
}

/// Reads the first rows and understands them. `name` is the innermost file's name, which may hold a date.
pub(crate) fn read(
    rows: &mut dyn Rows,
    facts: &Facts,
    origin: &Origin,
    options: &LoadOptions,
    name: &str,
) -> Result<Head, DataError> {
    let path = origin.path.as_str();
    let mut head = VecDeque::new();
    fill(rows, &mut head, HEAD_ROWS)?;
    let Some(first) = head.front() else {
        return Err(DataError::file(path, "has no rows", "give a file with bars"));
    };
    let line = first.line;
    let has_header = facts.names.is_some() || header::is_header(first);
    let names = match &facts.names {
        Some(names) => Some(names.clone()),
        None if has_header => head.pop_front(),
        None => None,
    };
    let Some(width) = head.front().map(Row::len) else {
        return Err(DataError::file(path, "has a header and no rows", "give a file with bars"));
    };
    let all = head.make_contiguous();
    let refuse = |problem: String| {
        let trades = problem.contains("holds trades");
        let fix = if trades {
            "make bars of the trades first, with the bar length that you want"
        } else {
            "name the columns in a header: timestamp, open, high, low, close, volume (or bid_open … ask_close), each \
             once; or say which column is what with --columns time=…,open=…,… (data.columns)"
        };
        DataError::line(path, line, problem, fix)
    };
    let date_in_name = stamp::date_in_name(name).is_some();
    let found = match &names {
        Some(names) if header::is_trades(names) => {
            Err("holds trades (price and amount), not bars".to_owned())
        }
        Some(names) => header::columns(names, &all[0], &facts.extra).map(|found| (found, None)),
        None => layout::columns(all, facts.delimiter, date_in_name),
    };
    let width = width.max(names.as_ref().map_or(0, Row::len));
    let columns = found.and_then(|(mut found, said)| {
        found.apply(&options.columns, names.as_ref(), width)?;
        found.finish().map(|columns| (columns, said))
    });
    let (mut columns, said) = columns.map_err(refuse)?;
    extra::locate(&mut columns, (names.as_ref(), width), &facts.unread, (origin, line), options)?;
    let mark = match options.decimal {
        Some(mark) => mark,
        None => style(all, &columns).ok_or_else(|| {
            let problem = "has numbers such as 1,085, which may be a thousand or one and a bit";
            DataError::line(
                path,
                line,
                problem,
                "say whether decimals have a point or a comma with --decimal (data.decimal)",
            )
        })?,
    };
    let mut used = in_words(&columns, names.as_ref());
    used.extend(options.extra.iter().map(|name| format!("feature={name}")));
    Ok(Head { rows: head, columns, used, has_header, mark, notes: said.into_iter().collect() })
}

/// Tells the format of stamps, reading on where the first rows do not.
pub(crate) fn stamps(
    head: &mut Head,
    rows: &mut dyn Rows,
    origin: &Origin,
    options: &LoadOptions,
    name: &str,
) -> Result<StampFormat, DataError> {
    if head.columns.vendor == Some(Vendor::Lean)
        && let Some(date) = stamp::date_in_name(name)
    {
        return Ok(StampFormat::MsOfDay(date));
    }
    let mut sniffer = Sniffer::default();
    let mut seen = 0;
    // The row that is told of: the first whose order is not that of those before it.
    let mut mixed = None;
    let problem = loop {
        for (at, row) in head.rows.iter().enumerate().skip(seen) {
            sniffer.look(&stamp_text(row, &head.columns));
            if mixed.is_none() && sniffer.is_mixed() {
                mixed = Some(at);
            }
        }
        seen = head.rows.len();
        match sniffer.verdict(options.date_order) {
            Verdict::Known(format) => return Ok(format),
            Verdict::Wrong(problem) => break problem,
            Verdict::Unclear { zoned } => {
                let until = (seen + HEAD_ROWS).min(UNCLEAR_ROWS);
                if until > seen && fill(rows, &mut head.rows, until)? {
                    continue;
                }
                if head.rows.len() > seen {
                    continue;
                }
                let texts: Vec<String> = head.rows.iter().map(|r| stamp_text(r, &head.columns)).collect();
                let texts = texts.iter().map(String::as_str);
                match stamp::order_by_steps(texts, zoned) {
                    Some(order) => {
                        head.notes
                            .push("the order of dates is that under which days follow one another".into());
                        return Ok(StampFormat::Calendar { order, zoned });
                    }
                    None => break "may be day-first or month-first: no row tells".into(),
                }
            }
        }
    };
    let (line, text) = head
        .rows
        .get(mixed.unwrap_or(0))
        .map_or((1, String::new()), |r| (r.line, stamp_text(r, &head.columns)));
    let fix = "say it with --date-order (data.date_order), or write stamps like 2017-01-31 22:00:00";
    Err(DataError::cell(&origin.path, (line, "timestamp"), &text, problem, fix))
}

/// Reads until there are `until` rows; false at the end of the file.
fn fill(rows: &mut dyn Rows, head: &mut VecDeque<Row>, until: usize) -> Result<bool, DataError> {
    while head.len() < until {
        let mut row = Row::default();
        if !rows.next(&mut row)? {
            return Ok(false);
        }
        head.push_back(row);
    }
    Ok(true)
}

/// Text of a row's stamp: of one column, or date and time of day of two.
pub(crate) fn stamp_text(row: &Row, columns: &Columns) -> String {
    let date = row.cell(columns.stamp);
    match columns.time_of_day {
        Some(at) => format!("{date} {}", row.cell(at)),
        None => date.to_owned(),
    }
}

fn style(rows: &[Row], columns: &Columns) -> Option<DecimalMark> {
    let mut style = Style::default();
    for row in rows {
        let prices = columns.bid.into_iter().chain(columns.ask.into_iter().flatten());
        for at in prices.chain(columns.volume).chain(columns.extra.iter().copied()) {
            let cell = row.cell(at);
            if !numbers::is_missing(cell) {
                style.look(cell);
            }
        }
    }
    style.mark()
}

fn in_words(columns: &Columns, names: Option<&Row>) -> Vec<String> {
    let name = |at: usize| match names.map(|n| n.cell(at)) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("#{}", at + 1),
    };
    let side = if columns.ask.is_some() { "bid_" } else { "" };
    let mut all = vec![format!("time={}", name(columns.stamp))];
    let mut one = |what: &str, at: Option<usize>| all.extend(at.map(|at| format!("{what}={}", name(at))));
    one("clock", columns.time_of_day);
    one("symbol", columns.symbol);
    for (field, price) in PRICES.iter().enumerate() {
        one(&format!("{side}{price}"), Some(columns.bid[field]));
    }
    for (field, price) in PRICES.iter().enumerate() {
        one(&format!("ask_{price}"), columns.ask.map(|a| a[field]));
    }
    one("volume", columns.volume);
    debug_assert!(all.iter().all(|w| w.split('=').next().is_some_and(|f| Field::by_name(f).is_some())));
    all
}
