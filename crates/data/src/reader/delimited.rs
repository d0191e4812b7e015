//! Delimited text: tabs, semicolons, bars, commas or blanks, with or without words before and after the table.

use csv_core::ReadFieldResult;

use super::{
    lines::{Line, Lines},
    numbers,
    row::{Facts, Row, Rows},
};
use crate::{error::DataError, stamp};

/// Delimiters in the order that wins: commas late, for they may also be in numbers; blanks last, for they are in stamps.
pub(crate) const DELIMITERS: [(u8, &str); 5] =
    [(b'\t', "tab"), (b';', "semicolon"), (b'|', "bar"), (b',', "comma"), (b' ', "blank")];
/// A delimiter by its name: `comma`, `semicolon`, `tab`, `bar` or `blank`.
pub fn delimiter(name: &str) -> Option<u8> {
    DELIMITERS.iter().find(|d| d.1 == name).map(|d| d.0)
}

/// Lines that are looked at to tell the delimiter, and where the table begins.
const SNIFFED_LINES: usize = 60;
/// A stamp and four prices.
const FEWEST_CELLS: usize = 5;
/// Lines of words after a table.
const MAX_FOOTER_LINES: usize = 5;

/// Rows of delimited text.
pub(crate) struct Delimited {
    lines: Lines,
    delimiter: u8,
    cutter: Cutter,
    width: usize,
    skipped: u64,
    line: Line,
    /// The first row, to know it where it is repeated.
    first: Row,
}

/// Tells the delimiter and passes over the words before the table.
pub(crate) fn open(mut lines: Lines, given: Option<u8>) -> Result<(Delimited, Facts), DataError> {
    let sniffed: Vec<Line> = lines.peek(SNIFFED_LINES)?.cloned().collect();
    let widths =
        |delimiter: u8| -> Vec<usize> { sniffed.iter().map(|l| width(&l.text, delimiter)).collect() };
    let delimiter = given.unwrap_or_else(|| {
        let scored = DELIMITERS.map(|(delimiter, _)| {
            let widths = widths(delimiter);
            let (most, lines) = usual(&widths);
            (delimiter, most, lines * 2 > widths.len())
        });
        let likely = scored.iter().find(|(_, most, covers)| *most >= FEWEST_CELLS && *covers);
        // `max_by_key` takes the last of equals, so the winner of a tie comes last.
        let best = scored.iter().rev().filter(|s| s.0 != b' ').max_by_key(|s| (s.2, s.1));
        likely.or(best).map_or(b',', |s| s.0)
    });
    let widths = widths(delimiter);
    let (width, _) = usual(&widths);
    let mut skipped = 0;
    let mut line = Line::default();
    // What looks like a bar is never passed over: it may be a row that lost a cell. A header may be one cell narrower than
    // rows that end with a delimiter.
    for (i, found) in sniffed.iter().enumerate() {
        if widths[i] == width
            || widths[i] + 1 == width
            || is_bar_like(&found.text, delimiter)
            || i + 1 == sniffed.len()
        {
            break;
        }
        lines.next(&mut line)?;
        skipped += 1;
    }
    let name = DELIMITERS.iter().find(|d| d.0 == delimiter).map_or("text", |d| d.1);
    let facts =
        Facts { format: format!("{name}-separated text"), delimiter: Some(delimiter), ..Facts::default() };
    Ok((
        Delimited {
            lines,
            delimiter,
            cutter: Cutter::new(delimiter),
            width: 0,
            skipped,
            line,
            first: Row::default(),
        },
        facts,
    ))
}

/// The most common width (the larger of two equally common), and how many lines have it.
fn usual(widths: &[usize]) -> (usize, usize) {
    let count = |w: usize| widths.iter().filter(|&&x| x == w).count();
    widths.iter().map(|&w| (count(w), w)).max().map_or((0, 0), |(n, w)| (w, n))
}

fn width(line: &str, delimiter: u8) -> usize {
    let mut row = Row::default();
    Cutter::new(delimiter).cut(line, &mut row);
    row.len()
}

fn is_bar_like(line: &str, delimiter: u8) -> bool {
    let mut row = Row::default();
    Cutter::new(delimiter).cut(line, &mut row);
    row.cells().take(2).any(stamp::looks_like_stamp)
        && row.cells().skip(1).any(|c| numbers::plain(c).is_some())
}

/// Cuts lines into cells by the csv crate's parser: one cell at a time, so that blanks before a cell are passed over first
/// (`, "1,234.5"`; and any number of them where they are the delimiter).
struct Cutter {
    reader: csv_core::Reader,
    delimiter: u8,
    cell: Vec<u8>,
}

impl Cutter {
    fn new(delimiter: u8) -> Self {
        let reader = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
        Self { reader, delimiter, cell: Vec::new() }
    }

    /// Adds a line's cells to the row; false if a quotation mark is not closed. Quotes may hold delimiters; two of them are one.
    fn cut(&mut self, line: &str, row: &mut Row) -> bool {
        let blanks = self.delimiter == b' ';
        let line = line.trim_matches(|c: char| c == '\u{feff}' || (c == ' ' && blanks));
        if line.trim_start_matches(' ').is_empty() {
            row.push("");
            return true; // the parser passes over empty lines
        }
        self.reader.reset();
        // No cell is longer than its line with its end.
        self.cell.resize(line.len() + 1, 0);
        let mut rest = line;
        loop {
            rest = rest.trim_start_matches(' ');
            let (mut result, taken, mut length) = match rest {
                "" => (ReadFieldResult::InputEmpty, 0, 0),
                _ => self.reader.read_field(rest.as_bytes(), &mut self.cell),
            };
            rest = &rest[taken..];
            if matches!(result, ReadFieldResult::InputEmpty) {
                let (end, _, more) = self.reader.read_field(b"\n", &mut self.cell[length..]);
                (result, length) = (end, length + more);
            }
            // Cut at ASCII from UTF-8, it is UTF-8.
            row.push(&String::from_utf8_lossy(&self.cell[..length]));
            match result {
                ReadFieldResult::Field { record_end: false } => {}
                ReadFieldResult::Field { record_end: true } | ReadFieldResult::End => return true,
                // The line's end stands inside quotes.
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => return false,
            }
        }
    }
}

impl Delimited {
    /// Whether the line that was just read and all that follow are words after the table.
    fn is_footer(&mut self) -> Result<bool, DataError> {
        let delimiter = self.delimiter;
        if is_bar_like(&self.line.text, delimiter) {
            return Ok(false);
        }
        let after = self.lines.peek(MAX_FOOTER_LINES)?;
        let count = after.clone().count();
        Ok(count < MAX_FOOTER_LINES && !after.clone().any(|l| is_bar_like(&l.text, delimiter)))
    }
}

impl Rows for Delimited {
    fn next(&mut self, row: &mut Row) -> Result<bool, DataError> {
        loop {
            if !self.lines.next(&mut self.line)? {
                return Ok(false);
            }
            let number = self.line.number;
            row.start(number);
            let text = match self.width {
                // A header behind a comment's mark.
                0 => self.line.text.trim_start_matches(['#', ' ']),
                _ => self.line.text.as_str(),
            };
            let closed = self.cutter.cut(text, row);
            if row.is_blank() {
                continue; // delimiters alone
            }
            if self.width == 0 {
                self.width = row.len();
                self.first = row.clone();
            } else if row.same_cells(&self.first) && row.cells().all(|c| numbers::plain(c).is_none()) {
                self.skipped += 1; // the header again: files put together
                continue;
            }
            if !closed {
                let problem = "opens a quotation mark and does not close it";
                let fix = "close the quotation mark, or remove the row";
                return Err(DataError::line(&self.lines.origin().path, number, problem, fix));
            }
            let extra_is_empty = (self.width..row.len()).all(|at| row.cell(at).is_empty());
            if row.len() < self.width || !extra_is_empty {
                if self.is_footer()? {
                    while self.lines.next(&mut self.line)? {
                        self.skipped += 1;
                    }
                    self.skipped += 1;
                    return Ok(false);
                }
                let problem = format!("has {} columns, and the first line has {}", row.len(), self.width);
                let fix = "make every row as wide as the first, and remove lines that are no bars";
                return Err(DataError::line(&self.lines.origin().path, number, problem, fix));
            }
            return Ok(true);
        }
    }

    fn lines_skipped(&self) -> u64 {
        self.skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_delimiters_and_quotes() {
        for (line, delimiter, expected) in [
            ("a, \"1,234.5\" ,\"b \"\"c\"\"\",", b',', vec!["a", "1,234.5", "b \"c\"", ""]),
            ("a;1,5;\"x;y\"", b';', vec!["a", "1,5", "x;y"]),
            ("  2020-01-01   1.1 1.2", b' ', vec!["2020-01-01", "1.1", "1.2"]),
            ("\"a\" , \"\",", b',', vec!["a", "", ""]),
            ("é,\"ü;\"x,b\"c\"", b',', vec!["é", "ü;x", "b\"c\""]),
            (" ", b',', vec![""]),
            ("abc", b',', vec!["abc"]),
        ] {
            let mut row = Row::default();
            assert!(Cutter::new(delimiter).cut(line, &mut row));
            assert_eq!(row.cells().collect::<Vec<_>>(), expected);
        }
        assert!(!Cutter::new(b',').cut("a,\"b,c", &mut Row::default()));
    }
}
