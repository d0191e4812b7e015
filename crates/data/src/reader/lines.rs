//! Lines of text, one after the other, with their numbers.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
};

use crate::{detect::UTF8_BOM, error::DataError, open::Origin};

/// A line of bars is a few hundred bytes; what has no line end for this long is no table.
const MAX_LINE_BYTES: usize = 1 << 20;

/// A line, without its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// From 1.
    pub(crate) number: u64,
    pub(crate) text: String,
}

/// Reads lines that end by LF, CRLF or CR; blank lines are counted and passed over.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read>>,
    origin: Origin,
    number: u64,
    buffer: Vec<u8>,
    /// The line end before was CR: an LF that follows belongs to it.
    after_cr: bool,
    /// Lines that were looked at in advance.
    ahead: VecDeque<Line>,
}

impl Lines {
    pub(crate) fn new(reader: Box<dyn Read>, origin: Origin) -> Self {
        let reader = BufReader::with_capacity(1 << 16, reader);
        Self { reader, origin, number: 0, buffer: Vec::new(), after_cr: false, ahead: VecDeque::new() }
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The next `count` lines, or as many as there are, which are not taken.
    pub(crate) fn peek(&mut self, count: usize) -> Result<impl Iterator<Item = &Line> + Clone, DataError> {
        while self.ahead.len() < count {
            let mut line = Line::default();
            if !self.read(&mut line)? {
                break;
            }
            self.ahead.push_back(line);
        }
        Ok(self.ahead.iter().take(count))
    }

    /// Takes the next line that is not blank; false at the end.
    pub(crate) fn next(&mut self, line: &mut Line) -> Result<bool, DataError> {
        if let Some(ready) = self.ahead.pop_front() {
            *line = ready;
            return Ok(true);
        }
        self.read(line)
    }

    fn read(&mut self, line: &mut Line) -> Result<bool, DataError> {
        loop {
            let Some(number) = self.fill()? else { return Ok(false) };
            if self.buffer.trim_ascii().is_empty() {
                continue;
            }
            let text = std::str::from_utf8(&self.buffer).map_err(|_| {
                DataError::line(&self.origin.path, number, "is not UTF-8", "save the file as UTF-8")
            })?;
            line.number = number;
            line.text.clear();
            line.text.push_str(text);
            return Ok(true);
        }
    }

    /// Reads one line into the buffer and gives its number.
    fn fill(&mut self) -> Result<Option<u64>, DataError> {
        self.buffer.clear();
        let mut ended = false;
        while !ended {
            let chunk = self.reader.fill_buf().map_err(|e| self.origin.io(e))?;
            if chunk.is_empty() {
                break;
            }
            let skip = usize::from(self.after_cr && chunk[0] == b'\n');
            self.after_cr = false;
            let rest = &chunk[skip..];
            let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
            let n = end.unwrap_or(rest.len());
            self.buffer.extend_from_slice(&rest[..n]);
            if let Some(end) = end {
                self.after_cr = rest[end] == b'\r';
                ended = true;
            }
            self.reader.consume(skip + n + usize::from(ended));
            if self.buffer.len() > MAX_LINE_BYTES {
                let problem = format!("has no end within {MAX_LINE_BYTES} bytes");
                let fix = "give text with one bar a line";
                return Err(DataError::line(&self.origin.path, self.number + 1, problem, fix));
            }
        }
        if !ended && self.buffer.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if self.number == 1 && self.buffer.starts_with(UTF8_BOM) {
            self.buffer.drain(..UTF8_BOM.len());
        }
        Ok(Some(self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_all_kinds_and_their_numbers() {
        let text = "\u{feff}a\r\n\r\nb\rc\n\n d \n";
        for step in [1, 2, 7] {
            // A reader that gives few bytes at a time: ends are cut in the middle.
            let origin = Origin { path: "x".into(), packing: Vec::new() };
            let mut lines = Lines::new(Box::new(Few(text.as_bytes(), step)), origin);
            let first: Vec<String> = lines.peek(2).unwrap().map(|l| l.text.clone()).collect();
            assert_eq!(first, ["a", "b"]);
            let (mut line, mut all) = (Line::default(), Vec::new());
            while lines.next(&mut line).unwrap() {
                all.push((line.number, line.text.clone()));
            }
            let expected = [(1, "a"), (3, "b"), (4, "c"), (6, " d ")];
            assert_eq!(all, expected.map(|(n, t)| (n, t.to_owned())));
        }
    }

    struct Few(&'static [u8], usize);

    impl Read for Few {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n = self.0.len().min(self.1).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }
}
