//! Google Finance's `getprices`: an address, then `KEY=VALUE` lines, then rows whose first stamp of each day is `a` and unix
//! seconds and whose others count intervals since it.

use super::{
    lines::{Line, Lines},
    row::{Facts, Row, Rows},
};
use crate::error::DataError;

/// Rows with whole stamps.
pub(crate) struct Google {
    lines: Lines,
    interval_s: i64,
    width: usize,
    /// The last whole stamp, unix seconds.
    day_s: Option<i64>,
    line: Line,
    skipped: u64,
}

/// Reads the keys before the rows.
pub(crate) fn open(mut lines: Lines) -> Result<(Google, Facts), DataError> {
    let path = lines.origin().path.clone();
    let (mut interval_s, mut names, mut skipped) = (None, None, 0);
    let mut line = Line::default();
    loop {
        let is_row = lines.peek(1)?.next().is_none_or(|l| {
            let stamp = l.text.strip_prefix('a').unwrap_or(&l.text);
            stamp.starts_with(|c: char| c.is_ascii_digit())
        });
        if is_row || !lines.next(&mut line)? {
            break;
        }
        skipped += 1;
        if let Some(value) = line.text.strip_prefix("INTERVAL=") {
            let seconds = value.trim().parse().ok().filter(|s| (1..=86_400 * 366).contains(s));
            let fix = "give the interval in seconds";
            interval_s = Some(seconds.ok_or_else(|| {
                DataError::cell(&path, (line.number, "INTERVAL"), value, "is no number of seconds", fix)
            })?);
        } else if let Some(value) = line.text.strip_prefix("COLUMNS=") {
            let mut row = Row::default();
            row.start(line.number);
            value.split(',').for_each(|c| row.push(c));
            names = Some(row);
        }
    }
    let (Some(interval_s), Some(names)) = (interval_s, names) else {
        let problem = "has a Google Finance head without INTERVAL or COLUMNS before the rows";
        return Err(DataError::file(&path, problem, "save the whole answer of the site"));
    };
    let width = names.len();
    let facts = Facts {
        format: "Google Finance getprices".into(),
        names: Some(names),
        bar_seconds: Some(interval_s),
        ..Facts::default()
    };
    Ok((Google { lines, interval_s, width, day_s: None, line, skipped }, facts))
}

impl Rows for Google {
    fn next(&mut self, row: &mut Row) -> Result<bool, DataError> {
        loop {
            if !self.lines.next(&mut self.line)? {
                return Ok(false);
            }
            let Line { number, text } = &self.line;
            if text.contains('=') {
                self.skipped += 1; // a new offset of the zone: stamps are unix time and do not change
                continue;
            }
            let path = &self.lines.origin().path;
            let (stamp, rest) = text.split_once(',').unwrap_or((text, ""));
            let refuse = |problem: &str| {
                let fix = "mend the row, or save the whole answer of the site";
                DataError::cell(path, (*number, "timestamp"), stamp, problem, fix)
            };
            let seconds = match stamp.strip_prefix('a') {
                Some(whole) => {
                    let seconds = whole.parse().map_err(|_| refuse("is no unix time"))?;
                    self.day_s = Some(seconds);
                    seconds
                }
                None => {
                    let day = self.day_s.ok_or_else(|| refuse("counts from no whole stamp before it"))?;
                    let steps: i64 = stamp.parse().map_err(|_| refuse("is no number of intervals"))?;
                    let later = steps.checked_mul(self.interval_s).and_then(|s| day.checked_add(s));
                    later.ok_or_else(|| refuse("is out of range"))?
                }
            };
            row.start(*number);
            row.push_fmt(format_args!("{seconds}"));
            rest.split(',').for_each(|c| row.push(c));
            if row.len() != self.width {
                let problem = format!("has {} columns, and COLUMNS names {}", row.len(), self.width);
                return Err(DataError::line(path, *number, problem, "mend the row"));
            }
            return Ok(true);
        }
    }

    fn lines_skipped(&self) -> u64 {
        self.skipped
    }
}
