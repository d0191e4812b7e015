//! JSON, piece by piece from a stream: what is held is one text. Numbers keep their digits.

use std::io::{BufRead, BufReader, Read};

use crate::{error::DataError, open::Origin};

/// No number or name of a table is longer.
const MAX_TEXT_BYTES: usize = 1 << 16;

/// A piece of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// `{`, `}`, `[` or `]`.
    Mark(u8),
    /// The name of a value, with its colon.
    Name(String),
    /// A text, a number, `true`, `false` or `null`, as cells have it (`null` is empty).
    Value(String),
}

/// Pieces of a stream, with the line that each is on. Commas are passed over: where they stand decides nothing in a table.
pub(super) struct Pieces {
    reader: BufReader<Box<dyn Read>>,
    pub(super) origin: Origin,
    pub(super) line: u64,
}

impl Pieces {
    pub(super) fn new(reader: Box<dyn Read>, origin: Origin) -> Self {
        Self { reader: BufReader::with_capacity(1 << 16, reader), origin, line: 1 }
    }

    pub(super) fn refuse(&self, problem: impl Into<Box<str>>) -> DataError {
        let fix = "give whole JSON: rows in an array, columns in arrays, or one object a line";
        DataError::line(&self.origin.path, self.line, problem, fix)
    }

    fn byte(&mut self) -> Result<Option<u8>, DataError> {
        let next = self.reader.fill_buf().map_err(|e| self.origin.io(e))?;
        Ok(next.first().copied())
    }

    fn take(&mut self, byte: u8) {
        self.line += u64::from(byte == b'\n');
        self.reader.consume(1);
    }

    /// The next byte that is no blank.
    fn solid(&mut self) -> Result<Option<u8>, DataError> {
        loop {
            match self.byte()? {
                // A byte order mark may stand at the beginning.
                Some(b @ (b' ' | b'\t' | b'\r' | b'\n' | b',' | 0xef | 0xbb | 0xbf)) => self.take(b),
                other => return Ok(other),
            }
        }
    }

    /// The next piece, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Piece>, DataError> {
        let Some(first) = self.solid()? else { return Ok(None) };
        match first {
            b'{' | b'}' | b'[' | b']' => {
                self.take(first);
                Ok(Some(Piece::Mark(first)))
            }
            b'"' => {
                self.take(first);
                let text = self.quoted()?;
                // A colon makes it a name. Blanks may stand before it, but no comma.
                while let Some(b @ (b' ' | b'\t' | b'\r' | b'\n')) = self.byte()? {
                    self.take(b);
                }
                if self.byte()? == Some(b':') {
                    self.take(b':');
                    return Ok(Some(Piece::Name(text)));
                }
                Ok(Some(Piece::Value(text)))
            }
            b'-' | b'+' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => self.bare().map(Some),
            other => Err(self.refuse(format!("is not JSON: {:?}", char::from(other)))),
        }
    }

    fn bare(&mut self) -> Result<Piece, DataError> {
        let mut text = String::new();
        while let Some(b @ (b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')) = self.byte()? {
            self.take(b);
            text.push(char::from(b));
            if text.len() > MAX_TEXT_BYTES {
                return Err(self.refuse("has a value without an end"));
            }
        }
        match text.as_str() {
            "null" | "NaN" => Ok(Piece::Value(String::new())),
            "true" | "false" => Ok(Piece::Value(text)),
            _ if text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic()) => {
                Err(self.refuse(format!("is not JSON: {}", crate::error::shown(&text))))
            }
            _ => Ok(Piece::Value(text)),
        }
    }

    fn quoted(&mut self) -> Result<String, DataError> {
        let mut bytes = Vec::new();
        loop {
            let Some(b) = self.byte()? else { return Err(self.refuse("ends inside a text")) };
            self.take(b);
            match b {
                b'"' => break,
                b'\\' => {
                    let Some(escaped) = self.byte()? else { return Err(self.refuse("ends inside a text")) };
                    self.take(escaped);
                    match escaped {
                        b'n' | b't' | b'r' | b'b' | b'f' => bytes.push(b' '),
                        // Names and numbers have no such characters; a sign in their place cannot be one of them.
                        b'u' => bytes.push(b'?'),
                        other => bytes.push(other),
                    }
                }
                other => bytes.push(other),
            }
            if bytes.len() > MAX_TEXT_BYTES {
                return Err(self.refuse("has a text without an end"));
            }
        }
        String::from_utf8(bytes).map_err(|_| self.refuse("is not UTF-8"))
    }
}
